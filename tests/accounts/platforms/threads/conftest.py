"""Threads on loopback with one profile, connected."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.platforms.threads.adapter import Threads
from accounts.platforms.types import Grant
from tests.accounts.platforms.threads.scripted_server import ScriptedServer
from tests.accounts.platforms.threads.steps import REDIRECT_URI, connect
from tests.fakes.threads import FakeThreads
from tests.fakes.threads_oauth import CLIENT_ID, CLIENT_SECRET


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeThreads]:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with FakeThreads() as running:
        running.register_redirect(REDIRECT_URI)
        running.add_profile("alice")
        settings.PLATFORM_SETTINGS = _settings(running.url)
        yield running


@pytest.fixture
def scripted(settings: Settings) -> Iterator[ScriptedServer]:
    """In Threads' place, with the app set up."""
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with ScriptedServer() as running:
        settings.PLATFORM_SETTINGS = _settings(running.url)
        yield running


@pytest.fixture
def threads() -> Threads:
    return Threads()


@pytest.fixture
def grant(threads: Threads, server: FakeThreads) -> Grant:
    return connect(threads, server).grant


@pytest.fixture
def scripted_grant() -> Grant:
    return Grant(tokens={"access_token": "secret-token"}, external_id="1")


def _settings(url: str) -> dict[str, str]:
    return {
        "THREADS_CLIENT_ID": CLIENT_ID,
        "THREADS_CLIENT_SECRET": CLIENT_SECRET,
        "THREADS_API_BASE": url,
        "THREADS_AUTH_BASE": url,
    }
