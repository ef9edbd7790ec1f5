"""Pinterest on loopback with one account, connected."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.platforms.pinterest.adapter import Pinterest
from accounts.platforms.types import Grant
from tests.accounts.platforms.pinterest.steps import REDIRECT_URI, connect
from tests.fakes.pinterest import FakePinterest
from tests.fakes.pinterest_oauth import CLIENT_ID, CLIENT_SECRET


@pytest.fixture
def server(settings: Settings) -> Iterator[FakePinterest]:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with FakePinterest() as running:
        running.register_redirect(REDIRECT_URI)
        running.add_person("alice")
        settings.PLATFORM_SETTINGS = {
            "PINTEREST_CLIENT_ID": CLIENT_ID,
            "PINTEREST_CLIENT_SECRET": CLIENT_SECRET,
            "PINTEREST_API_BASE": running.api_base,
            "PINTEREST_AUTH_BASE": running.url,
        }
        yield running


@pytest.fixture(autouse=True)
def boards(server: FakePinterest) -> dict[str, str]:
    """The ids of the account's boards by their names."""
    return server.add_boards("alice", "Garden", "Recipes")


@pytest.fixture
def pinterest() -> Pinterest:
    return Pinterest()


@pytest.fixture
def grant(pinterest: Pinterest, server: FakePinterest) -> Grant:
    return connect(pinterest, server).grant
