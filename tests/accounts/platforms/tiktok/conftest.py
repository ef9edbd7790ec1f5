"""TikTok on loopback with one creator, connected."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.platforms.tiktok.adapter import TikTok
from accounts.platforms.types import Grant
from tests.accounts.platforms.tiktok.steps import PREFIX, REDIRECT_URI, connect
from tests.fakes.tiktok import FakeTikTok
from tests.fakes.tiktok_oauth import CLIENT_KEY, CLIENT_SECRET


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeTikTok]:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with FakeTikTok() as running:
        running.register_redirect(REDIRECT_URI)
        running.add_creator("alice")
        running.verify(PREFIX)
        settings.PLATFORM_SETTINGS = {
            "TIKTOK_CLIENT_ID": CLIENT_KEY,
            "TIKTOK_CLIENT_SECRET": CLIENT_SECRET,
            "TIKTOK_API_BASE": running.url,
            "TIKTOK_AUTH_BASE": running.url,
            "TIKTOK_VERIFIED_PREFIX": PREFIX,
        }
        yield running


@pytest.fixture
def tiktok() -> TikTok:
    return TikTok()


@pytest.fixture
def grant(tiktok: TikTok, server: FakeTikTok) -> Grant:
    return connect(tiktok, server).grant
