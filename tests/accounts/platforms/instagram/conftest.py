"""Fixtures: Instagram's stand-in on loopback with one connected account."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.platforms.instagram.adapter import Instagram
from accounts.platforms.types import Grant
from tests.accounts.platforms.meta.steps import REDIRECT_URI, connect, running
from tests.fakes.instagram import FakeInstagram
from tests.fakes.instagram_login import CLIENT_ID, CLIENT_SECRET


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeInstagram]:
    fake = FakeInstagram()
    fake.register_redirect(REDIRECT_URI)
    fake.add_account("alice")
    with running(fake, (CLIENT_ID, CLIENT_SECRET), settings):
        yield fake


@pytest.fixture
def instagram() -> Instagram:
    return Instagram()


@pytest.fixture
def grant(instagram: Instagram, server: FakeInstagram) -> Grant:
    return connect(instagram, server).grant
