"""Fixtures: Facebook's stand-in on loopback with one connected page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.platforms.facebook.adapter import Facebook
from accounts.platforms.types import Grant
from tests.accounts.platforms.meta.steps import REDIRECT_URI, connect, running
from tests.fakes.facebook import FakeFacebook
from tests.fakes.facebook_login import CLIENT_ID, CLIENT_SECRET


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeFacebook]:
    fake = FakeFacebook()
    fake.register_redirect(REDIRECT_URI)
    with running(fake, (CLIENT_ID, CLIENT_SECRET), settings):
        settings.PLATFORM_SETTINGS["FACEBOOK_VIDEO_API_BASE"] = fake.video_api_base
        yield fake


@pytest.fixture
def page_id(server: FakeFacebook) -> str:
    return server.add_page("The Bakery", admin="alice", username="bakery")


@pytest.fixture
def facebook() -> Facebook:
    return Facebook()


@pytest.fixture
def grant(facebook: Facebook, server: FakeFacebook, page_id: str) -> Grant:
    return connect(facebook, server).grant
