"""A Bluesky server on loopback with one account, and the means to connect it through the API."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
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
    """Sends POST /accounts/connect with good credentials; what is given by name replaces a field of the body."""

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
    """The account, connected."""
    return ConnectedAccount.objects.get(pk=connect(api).json()["account"]["id"])
