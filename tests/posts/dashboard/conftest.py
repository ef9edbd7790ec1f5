"""Fixtures for the tests of the posts pages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.posts.dashboard.dashboard import Dashboard
from workspaces.models import User, Workspace


@pytest.fixture
def dashboard(clock: Any, owner: User, workspace: Workspace) -> Dashboard:
    """The workspace's owner, signed in to the dashboard at noon."""
    return Dashboard(workspace, owner)
