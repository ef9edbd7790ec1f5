"""Fixtures for the tests of posts: clocks, accounts and platforms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import time_machine
from pytest_django import Settings

from accounts.models import ConnectedAccount
from accounts.platforms import registry
from accounts.platforms.bluesky.adapter import Bluesky
from accounts.platforms.errors import ContentRejected
from accounts.platforms.types import Content, Published
from tests.conftest import ApiClient
from tests.factories import AccountFactory
from tests.fakes.bluesky import FakeBluesky
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import NOON, create, read
from tests.posts.scripted_platform import ScriptedPlatform, find_nothing, publish_content
from workspaces.models import Workspace


@pytest.fixture(autouse=True)
def _loopback(settings: Settings) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """A clock that stands at noon until it is moved."""
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def accounts(workspace: Workspace) -> list[ConnectedAccount]:
    """Three sandbox accounts on different platforms."""
    return [AccountFactory(workspace=workspace, platform=name) for name in ("bluesky", "mastodon", "x")]


@pytest.fixture
def pds(settings: Settings) -> Iterator[FakeBluesky]:
    with FakeBluesky() as server:
        settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "BLUESKY_VIDEO_API_BASE": server.video.url}
        yield server


@pytest.fixture
def bluesky_account(workspace: Workspace, pds: FakeBluesky) -> ConnectedAccount:
    """An account connected to the fake Bluesky server."""
    pds.add_account("alice.test", "abcd-efgh-ijkl-mnop")
    made = Bluesky().connect_with_credentials(
        {"identifier": "alice.test", "app_password": "abcd-efgh-ijkl-mnop", "service": pds.url}
    )
    return AccountFactory(
        workspace=workspace,
        sandbox=False,
        external_id=made.grant.external_id,
        credentials=dict(made.grant.credentials),
        tokens=dict(made.grant.tokens),
    )


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[ScriptedPlatform]]:
    """The scripted platform, registered in place of Telegram."""
    path = f"{ScriptedPlatform.__module__}.{ScriptedPlatform.__name__}"
    monkeypatch.setitem(registry.PLATFORMS, "telegram", path)
    monkeypatch.setattr(ScriptedPlatform, "send", staticmethod(publish_content), raising=False)
    monkeypatch.setattr(ScriptedPlatform, "sent", [], raising=False)
    monkeypatch.setattr(ScriptedPlatform, "searches", [], raising=False)
    _forget_platforms()
    yield ScriptedPlatform
    monkeypatch.undo()
    _forget_platforms()


@pytest.fixture
def verifiable(scripted: type[ScriptedPlatform], monkeypatch: pytest.MonkeyPatch) -> type[ScriptedPlatform]:
    """The scripted platform as a verifiable one, on which no post is found until a test adds it."""
    monkeypatch.setattr(scripted, "capabilities", replace(scripted.capabilities, retry_safety="verifiable"))
    monkeypatch.setattr(scripted, "search", staticmethod(find_nothing), raising=False)
    return scripted


@pytest.fixture
def telegram_account(workspace: Workspace, scripted: type[ScriptedPlatform]) -> ConnectedAccount:
    """A real (not sandbox) account on the scripted platform."""
    return AccountFactory(workspace=workspace, platform="telegram", sandbox=False)


@pytest.fixture
def rejected(
    api: ApiClient,
    telegram_account: ConnectedAccount,
    scripted: type[ScriptedPlatform],
    clock: time_machine.Traveller,
    monkeypatch: pytest.MonkeyPatch,
) -> dict[str, Any]:
    """A post whose only, real target was rejected; the next attempt would succeed."""
    with monkeypatch.context() as patch:
        patch.setattr(scripted, "send", staticmethod(reject))
        group = create(api, telegram_account)
        run_until_idle()
    return read(api, group)


def reject(content: Content) -> Published:
    raise ContentRejected("No.")


def _forget_platforms() -> None:
    registry.get_adapter.cache_clear()
    registry.adapter_or_simulator.cache_clear()
