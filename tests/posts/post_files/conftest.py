"""Fixtures for the tests of files of posts."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from tests.factories import AccountFactory
from tests.posts.post_files.files import FilePages
from workspaces.models import User, Workspace


@pytest.fixture
def bakery(workspace: Workspace) -> ConnectedAccount:
    return AccountFactory(workspace=workspace, platform="bluesky", handle="bakery.example")


@pytest.fixture
def shop(workspace: Workspace) -> ConnectedAccount:
    return AccountFactory(workspace=workspace, platform="mastodon", handle="shop@social.example")


@pytest.fixture
def pages(clock: Any, workspace: Workspace, owner: User) -> FilePages:
    """The workspace's owner at noon, on the page of files."""
    Workspace.objects.filter(pk=workspace.pk).update(default_timezone="Europe/Berlin")
    return FilePages(workspace, owner)
