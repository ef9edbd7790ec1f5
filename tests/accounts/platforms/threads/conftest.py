"""Fixtures: Threads' stand-in on loopback with one connected profile."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.platforms.threads.adapter import Threads
from accounts.platforms.types import Grant
from tests.accounts.platforms.meta.steps import REDIRECT_URI, connect, running
from tests.fakes.threads import FakeThreads
from tests.fakes.threads_oauth import CLIENT_ID, CLIENT_SECRET


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeThreads]:
    fake = FakeThreads()
    fake.register_redirect(REDIRECT_URI)
    fake.add_profile("alice")
    with running(fake, (CLIENT_ID, CLIENT_SECRET), settings):
        yield fake


@pytest.fixture
def threads() -> Threads:
    return Threads()


@pytest.fixture
def grant(threads: Threads, server: FakeThreads) -> Grant:
    return connect(threads, server).grant
