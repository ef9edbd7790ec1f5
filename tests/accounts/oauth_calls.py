"""Connections by OAuth as a caller makes them: begin, let the owner grant, bring state and code back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from tests.conftest import ApiClient
from tests.fakes.oauth_platform import FakeOAuthPlatform
from workspaces.models import Workspace

CALLBACK = "/accounts/oauth/callback"
PAGE = "/dashboard/connect/callback"


@dataclass(frozen=True)
class Granted:
    """The state and code with which the platform redirects the browser back."""

    state: str
    code: str

    def query(self, **more: str) -> str:
        return urlencode({"state": self.state, "code": self.code, **more})


def begin(client: ApiClient, workspace: Workspace, *, idempotency_key: str = "", **fields: Any) -> Any:
    """Send POST /accounts/connect; keyword arguments replace body fields."""
    body = {"workspace_id": workspace.id, "platform": "pinterest", "method": "oauth", **fields}
    headers = {"idempotency_key": idempotency_key} if idempotency_key else {}
    return client.post("/accounts/connect", body, **headers)


def granted(client: ApiClient, workspace: Workspace, provider: FakeOAuthPlatform) -> Granted:
    """Begin a connection and grant it as the account's owner."""
    begun = begin(client, workspace).json()
    return Granted(begun["state"], provider.grant(begun["authorization_url"]))


def complete(client: ApiClient, brought: Granted, *, idempotency_key: str = "", **query: str) -> Any:
    """Send GET /accounts/oauth/callback."""
    headers = {"idempotency_key": idempotency_key} if idempotency_key else {}
    return client.get(f"{CALLBACK}?{brought.query(**query)}", **headers)
