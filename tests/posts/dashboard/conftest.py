"""A person of the workspace at the dashboard."""

from __future__ import annotations

from typing import Any

import pytest

from tests.posts.dashboard.desk import Desk
from workspaces.models import User, Workspace


@pytest.fixture
def desk(clock: Any, owner: User, workspace: Workspace) -> Desk:
    """The owner at the dashboard of the workspace; it is noon."""
    return Desk(workspace, owner)
