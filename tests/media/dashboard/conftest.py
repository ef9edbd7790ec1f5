"""The owner of a workspace at the pages of its media."""

from __future__ import annotations

import pytest

from tests.pages import Pages
from workspaces.models import User, Workspace


@pytest.fixture
def pages(workspace: Workspace, owner: User) -> Pages:
    return Pages(workspace, owner)
