"""A Mastodon server on loopback with one account, connected."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from accounts.platforms.mastodon.adapter import Mastodon
from accounts.platforms.types import Grant
from tests.accounts.platforms.mastodon.scripted_server import ScriptedServer
from tests.fakes.mastodon import FakeMastodon


@pytest.fixture(autouse=True)
def _loopback(settings: Settings) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True


@pytest.fixture
def server() -> Iterator[FakeMastodon]:
    """A server that ignores idempotency keys, so that only the adapter prevents double posts."""
    with FakeMastodon(honours_idempotency_key=False) as running:
        yield running


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def mastodon() -> Mastodon:
    return Mastodon()


@pytest.fixture
def credentials(server: FakeMastodon) -> dict[str, str]:
    return {"instance": server.url, "access_token": server.add_account("alice")}


@pytest.fixture
def grant(mastodon: Mastodon, credentials: dict[str, str]) -> Grant:
    return mastodon.connect_with_credentials(credentials).grant


@pytest.fixture
def scripted_grant(scripted: ScriptedServer) -> Grant:
    return Grant(
        credentials={"instance": scripted.url, "access_token": "secret-token"},
        tokens={"instance": scripted.url, "account": "1"},
        external_id=f"1@127.0.0.1:{scripted.port}",
    )
