"""A person of the workspace at the dashboard."""

from __future__ import annotations

from typing import Any

import pytest

from tests.posts.dashboard.dashboard import Dashboard
from workspaces.models import User, Workspace


@pytest.fixture
def dashboard(clock: Any, owner: User, workspace: Workspace) -> Dashboard:
    """The owner at the dashboard of the workspace; it is noon."""
    return Dashboard(workspace, owner)
