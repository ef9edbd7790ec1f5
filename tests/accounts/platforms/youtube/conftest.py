"""YouTube on loopback with one channel, connected."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.platforms.types import Grant
from accounts.platforms.youtube.adapter import YouTube
from tests.accounts.platforms.youtube.steps import REDIRECT_URI, connect
from tests.fakes.youtube import FakeYouTube
from tests.fakes.youtube_oauth import CLIENT_ID, CLIENT_SECRET


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeYouTube]:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with FakeYouTube() as running:
        running.register_redirect(REDIRECT_URI)
        running.add_channel("alice")
        settings.PLATFORM_SETTINGS = {
            "YOUTUBE_CLIENT_ID": CLIENT_ID,
            "YOUTUBE_CLIENT_SECRET": CLIENT_SECRET,
            "YOUTUBE_API_BASE": running.url,
            "YOUTUBE_AUTH_BASE": running.url,
        }
        yield running


@pytest.fixture
def youtube() -> YouTube:
    return YouTube()


@pytest.fixture
def grant(youtube: YouTube, server: FakeYouTube) -> Grant:
    [connection] = connect(youtube, server)
    return connection.grant
