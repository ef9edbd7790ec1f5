"""Fixtures for the tests of the media pages."""

from __future__ import annotations

import pytest

from tests.pages import Pages
from workspaces.models import User, Workspace


@pytest.fixture
def pages(workspace: Workspace, owner: User) -> Pages:
    return Pages(workspace, owner)
