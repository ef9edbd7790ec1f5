"""The Takahe stand-in behaves as Takahe's source says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
import requests
import time_machine

from tests.fakes.mastodon_takahe import FakeTakahe

REDIRECT = "https://app.example/callback"
VERIFY = "/api/v1/accounts/verify_credentials"


@pytest.fixture
def server() -> Iterator[FakeTakahe]:
    with FakeTakahe() as running:
        running.add_account("alice", ["read", "write"])
        yield running


def call(server: FakeTakahe, method: str, path: str, token: str = "", **options: Any) -> requests.Response:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with requests.Session() as http:
        http.trust_env = False
        return http.request(method, server.url + path, headers=headers, timeout=5, **options)


def token_of(server: FakeTakahe) -> str:
    return next(iter(server.tokens_of("alice")))


class Client:
    """An application that is registered at the Takahe stand-in, and the owner's code for it."""

    def __init__(self, server: FakeTakahe, scopes: str) -> None:
        self.server = server
        form = {"client_name": "App", "redirect_uris": REDIRECT, "scopes": scopes}
        registered = call(server, "POST", "/api/v1/apps", data=form).json()
        self.keys = {name: registered[name] for name in ("client_id", "client_secret")}
        asked = {"response_type": "code", "client_id": registered["client_id"], "redirect_uri": REDIRECT, "scope": scopes}
        self.code = server.grant(f"{server.url}/oauth/authorize?{urlencode(asked)}", "alice")

    def post(self, path: str, **form: str) -> requests.Response:
        return call(self.server, "POST", path, data={**self.keys, **form})

    def token(self, **changes: str) -> requests.Response:
        form = {"grant_type": "authorization_code", "code": self.code, "redirect_uri": REDIRECT, **changes}
        return self.post("/oauth/token", **form)


@pytest.mark.parametrize("path", [VERIFY, "/api/v2/instance", "/nowhere"])
def test_an_invalid_token_is_refused_at_every_address_in_plain_text(server: FakeTakahe, path: str) -> None:
    token = token_of(server)
    server.revoke_tokens("alice")

    answer = call(server, "GET", path, token)

    assert (answer.status_code, answer.text) == (400, "Invalid Bearer token")


def test_without_a_token_there_is_json(server: FakeTakahe) -> None:
    answer = call(server, "GET", VERIFY)

    assert (answer.status_code, answer.json()) == (401, {"error": "identity_token_required"})


def test_narrow_scopes_are_granted_and_then_open_nearly_everything_but_the_identity(server: FakeTakahe) -> None:
    made = Client(server, "read:accounts read:statuses write:statuses").token()
    token = made.json()["access_token"]
    statuses = call(server, "GET", f"/api/v1/accounts/{server.account_id('alice')}/statuses", token)
    identity = call(server, "GET", VERIFY, token)

    assert (made.status_code, made.json()["scope"]) == (200, "read:accounts read:statuses write:statuses")
    assert statuses.status_code == 200
    assert (identity.status_code, identity.json()) == (403, {"error": "out_of_scope_for_token"})
    assert call(server, "GET", VERIFY, token_of(server)).status_code == 200


def test_its_documents_name_the_software_but_no_scopes(server: FakeTakahe) -> None:
    [link] = call(server, "GET", "/.well-known/nodeinfo").json()["links"]

    assert call(server, "GET", link["href"].removeprefix(server.url)).json()["software"]["name"] == "takahe"
    assert call(server, "GET", "/.well-known/oauth-authorization-server").status_code == 404


def test_a_code_is_valid_once_for_a_minute(server: FakeTakahe) -> None:
    client = Client(server, "read")

    assert client.token(redirect_uri="https://app.example/other").status_code == 401
    assert client.token(code="guessed").status_code == 500
    assert [client.token().status_code for _ in range(2)] == [200, 401]
    late = Client(server, "read")
    with time_machine.travel(datetime.now(UTC) + timedelta(seconds=61)):
        assert late.token().json() == {"error": "access_denied"}


def test_a_token_is_revoked_by_its_own_application_as_often_as_it_asks(server: FakeTakahe) -> None:
    client, stranger = Client(server, "read"), Client(server, "read")
    token = client.token().json()["access_token"]

    assert stranger.post("/oauth/revoke", token=token).status_code == 403
    assert [client.post("/oauth/revoke", token=token).status_code for _ in range(2)] == [200, 200]
    assert token not in server.tokens_of("alice")


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ({"status": "a" * 501}, 400, "Status is too long"),
        ({"status": ""}, 400, "Status is empty"),
        ({"status": "https://example.com/" + "a" * 481}, 400, "Status is too long"),
        ({"status": "Hi", "in_reply_to_id": "1", "language": "zh-TW"}, 200, None),
    ],
)
def test_a_status_is_refused_with_400(server: FakeTakahe, body: dict[str, str], status: int, error: str | None) -> None:
    answer = call(server, "POST", "/api/v1/statuses", token_of(server), json=body)

    assert (answer.status_code, answer.json().get("error")) == (status, error)
    assert [each["in_reply_to_id"] for each in server.statuses("alice")] == ([] if error else [None])


def test_a_private_status_is_in_no_list(server: FakeTakahe) -> None:
    server.post("alice", "Psst", visibility="private")

    statuses = call(server, "GET", f"/api/v1/accounts/{server.account_id('alice')}/statuses", token_of(server))

    assert statuses.json() == []


@pytest.mark.parametrize(("mime_type", "status"), [("image/png", 200), ("video/mp4", 500)])
def test_only_images_are_accepted(server: FakeTakahe, mime_type: str, status: int) -> None:
    files = {"file": ("a", b"bytes", mime_type)}

    assert call(server, "POST", "/api/v2/media", token_of(server), files=files).status_code == status
