"""Facebook on loopback with one page, connected."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.platforms.facebook.adapter import Facebook
from accounts.platforms.types import Grant
from tests.accounts.platforms.facebook.steps import REDIRECT_URI, connect
from tests.fakes.facebook import FakeFacebook
from tests.fakes.facebook_login import CLIENT_ID, CLIENT_SECRET


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeFacebook]:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with FakeFacebook() as running:
        running.register_redirect(REDIRECT_URI)
        settings.PLATFORM_SETTINGS = {
            "FACEBOOK_CLIENT_ID": CLIENT_ID,
            "FACEBOOK_CLIENT_SECRET": CLIENT_SECRET,
            "FACEBOOK_API_BASE": running.url,
            "FACEBOOK_VIDEO_API_BASE": running.video_api_base,
            "FACEBOOK_AUTH_BASE": running.url,
        }
        yield running


@pytest.fixture
def page_id(server: FakeFacebook) -> str:
    return server.add_page("The Bakery", admin="alice", username="bakery")


@pytest.fixture
def facebook() -> Facebook:
    return Facebook()


@pytest.fixture
def grant(facebook: Facebook, server: FakeFacebook, page_id: str) -> Grant:
    [connection] = connect(facebook, server)
    return connection.grant
