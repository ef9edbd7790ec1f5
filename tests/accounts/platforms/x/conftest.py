"""X on loopback with one account, connected."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.platforms.types import Grant
from accounts.platforms.x.adapter import X
from tests.accounts.platforms.x.scripted_server import ScriptedServer
from tests.accounts.platforms.x.steps import REDIRECT_URI, connect
from tests.fakes.x import FakeX
from tests.fakes.x_oauth import CLIENT_ID, CLIENT_SECRET


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeX]:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with FakeX() as running:
        running.register_redirect(REDIRECT_URI)
        running.add_person("alice")
        settings.PLATFORM_SETTINGS = {
            "X_CLIENT_ID": CLIENT_ID,
            "X_CLIENT_SECRET": CLIENT_SECRET,
            "X_API_BASE": running.url,
            "X_AUTH_BASE": running.url,
        }
        yield running


@pytest.fixture
def scripted(settings: Settings) -> Iterator[ScriptedServer]:
    """In X's place, with the app set up."""
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with ScriptedServer() as running:
        settings.PLATFORM_SETTINGS = {
            "X_CLIENT_ID": CLIENT_ID,
            "X_CLIENT_SECRET": CLIENT_SECRET,
            "X_API_BASE": running.url,
        }
        yield running


@pytest.fixture
def x() -> X:
    return X()


@pytest.fixture
def grant(x: X, server: FakeX) -> Grant:
    return connect(x, server).grant


@pytest.fixture
def scripted_grant(scripted: ScriptedServer) -> Grant:
    tokens = {"access_token": "secret-token", "refresh_token": "secret-refresh", "username": "alice"}
    return Grant(tokens=tokens, external_id="1")
