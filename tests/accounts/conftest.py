"""Fixtures for tests of accounts: a Bluesky server and a platform with OAuth on loopback, each with one account."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from accounts.platforms import registry
from tests.accounts.oauth_adapter import TinyPlatform
from tests.accounts.oauth_calls import complete, granted
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.oauth_platform import CLIENT_ID, CLIENT_SECRET, FakeOAuthPlatform
from workspaces.models import Workspace

HANDLE = "alice.test"
APP_PASSWORD = "abcd-efgh-ijkl-mnop"


@pytest.fixture(autouse=True)
def _loopback(settings: Any) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True


@pytest.fixture
def pds() -> Iterator[FakeBluesky]:
    with FakeBluesky() as server:
        server.add_account(HANDLE, APP_PASSWORD)
        yield server


@pytest.fixture
def connect(pds: FakeBluesky, workspace: Workspace) -> Callable[..., Any]:
    """Return a function that sends POST /accounts/connect with good credentials; keyword arguments replace body fields."""

    def send(client: ApiClient, *, idempotency_key: str = "", **fields: Any) -> Any:
        body = {
            "workspace_id": workspace.id,
            "platform": "bluesky",
            "credentials": {"identifier": HANDLE, "app_password": APP_PASSWORD, "service": pds.url},
            **fields,
        }
        headers = {"idempotency_key": idempotency_key} if idempotency_key else {}
        return client.post("/accounts/connect", body, **headers)

    return send


@pytest.fixture
def connected(api: ApiClient, connect: Callable[..., Any]) -> ConnectedAccount:
    """The Bluesky account, connected."""
    return ConnectedAccount.objects.get(pk=connect(api).json()["account"]["id"])


@pytest.fixture
def provider(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOAuthPlatform]:
    """A platform with OAuth in Pinterest's place, whose application is configured; its owner has one account there."""
    with FakeOAuthPlatform() as server:
        server.add_account("alice")
        settings.PLATFORM_SETTINGS = {
            "PINTEREST_CLIENT_ID": CLIENT_ID,
            "PINTEREST_CLIENT_SECRET": CLIENT_SECRET,
            "PINTEREST_API_BASE": server.url,
        }
        path = f"{TinyPlatform.__module__}.{TinyPlatform.__name__}"
        monkeypatch.setitem(registry.PLATFORMS, TinyPlatform.name, path)
        _clear_platform_cache()
        yield server
        monkeypatch.undo()
        _clear_platform_cache()


@pytest.fixture
def oauth_account(api: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform) -> ConnectedAccount:
    """The account at the platform with OAuth, connected."""
    answer = complete(api, granted(api, workspace, provider))
    return ConnectedAccount.objects.get(pk=answer.json()["account"]["id"])


def _clear_platform_cache() -> None:
    registry.get_adapter.cache_clear()
    registry.adapter_or_simulator.cache_clear()
