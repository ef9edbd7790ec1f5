"""A Bluesky server on loopback with one account, connected."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.platforms.bluesky.adapter import Bluesky
from accounts.platforms.types import Grant
from tests.accounts.platforms.bluesky.scripted_server import ScriptedServer
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.http_server import Answer
from tests.fakes.web_pages import WebPages, html, open_graph, picture

HANDLE = "alice.test"
APP_PASSWORD = "abcd-efgh-ijkl-mnop"


@pytest.fixture(autouse=True)
def _loopback(settings: Settings) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True


@pytest.fixture
def pds(settings: Settings) -> Iterator[FakeBluesky]:
    with FakeBluesky() as server:
        settings.PLATFORM_SETTINGS = {"BLUESKY_VIDEO_API_BASE": server.video.url}
        yield server


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def bluesky() -> Bluesky:
    return Bluesky()


@pytest.fixture
def credentials(pds: FakeBluesky) -> dict[str, str]:
    pds.add_account(HANDLE, APP_PASSWORD)
    return {"identifier": HANDLE, "app_password": APP_PASSWORD, "service": pds.url}


@pytest.fixture
def grant(bluesky: Bluesky, credentials: dict[str, str]) -> Grant:
    return bluesky.connect_with_credentials(credentials).grant


@pytest.fixture
def web() -> Iterator[WebPages]:
    with WebPages() as server:
        yield server


@pytest.fixture
def page(web: WebPages) -> str:
    """The address of a page with title, description and picture."""
    web.put("/picture.png", Answer(200, picture(), {"Content-Type": "image/png"}))
    return web.put("/page", html(open_graph("A bench", "How it was made", "/picture.png")))
