"""Instagram on loopback with one account, connected."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.platforms.instagram.adapter import Instagram
from accounts.platforms.types import Grant
from tests.accounts.platforms.instagram.steps import REDIRECT_URI, connect
from tests.fakes.instagram import FakeInstagram
from tests.fakes.instagram_login import CLIENT_ID, CLIENT_SECRET


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeInstagram]:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with FakeInstagram() as running:
        running.register_redirect(REDIRECT_URI)
        running.add_account("alice")
        settings.PLATFORM_SETTINGS = {
            "INSTAGRAM_CLIENT_ID": CLIENT_ID,
            "INSTAGRAM_CLIENT_SECRET": CLIENT_SECRET,
            "INSTAGRAM_API_BASE": running.url,
            "INSTAGRAM_AUTH_BASE": running.url,
        }
        yield running


@pytest.fixture
def instagram() -> Instagram:
    return Instagram()


@pytest.fixture
def grant(instagram: Instagram, server: FakeInstagram) -> Grant:
    return connect(instagram, server).grant
