"""OAuth of the Mastodon stand-in behaves as docs.joinmastodon.org says."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
import requests
import time_machine

from tests.fakes.mastodon import FakeMastodon
from tests.fakes.mastodon_documents import METADATA

REDIRECT = "https://app.example/callback"
VERIFIER = "v" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")


class Client:
    """An OAuth application at the Mastodon stand-in."""

    def __init__(self, server: FakeMastodon, scopes: str = "read write:statuses") -> None:
        self.server, self.http = server, requests.Session()
        self.http.trust_env = False
        form = {"client_name": "App", "redirect_uris": REDIRECT, "scopes": scopes, "website": "https://app.example"}
        self.keys = self.post("/api/v1/apps", **form)[1]

    def post(self, path: str, **form: str) -> tuple[int, Any]:
        answer = self.http.post(self.server.url + path, data=form, timeout=5)
        return answer.status_code, answer.json()

    def address(self, **changes: str) -> str:
        asked = {"response_type": "code", "client_id": self.keys["client_id"], "redirect_uri": REDIRECT}
        return f"{self.server.url}/oauth/authorize?{urlencode({**asked, **changes})}"

    def grant(self, **changes: str) -> str:
        return self.server.grant(self.address(**changes), "alice")

    def token(self, code: str, **changes: str) -> tuple[int, Any]:
        secrets = {name: self.keys[name] for name in ("client_id", "client_secret")}
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT, **secrets, **changes}
        return self.post("/oauth/token", **form)


@pytest.fixture
def server() -> Iterator[FakeMastodon]:
    with FakeMastodon() as running:
        running.add_account("alice")
        yield running


@pytest.fixture
def client(server: FakeMastodon) -> Client:
    return Client(server)


def test_an_application_is_registered_with_the_scopes_that_it_may_ask_for(client: Client) -> None:
    assert client.keys["client_secret_expires_at"] == 0
    assert client.keys["redirect_uris"] == [REDIRECT]
    assert client.post("/api/v1/apps", client_name="App")[0] == 422
    assert client.post("/api/v1/apps", client_name="App", redirect_uris=REDIRECT, scopes="read:all")[0] == 422


@pytest.mark.parametrize(("name", "website", "status"), [("n" * 60, "", 200), ("n" * 61, "", 422), ("n", "n.example", 422)])
def test_an_applications_name_is_short_and_its_website_an_address(
    client: Client, name: str, website: str, status: int
) -> None:
    assert client.post("/api/v1/apps", client_name=name, redirect_uris=REDIRECT, website=website)[0] == status


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "unknown"},
        {"redirect_uri": "https://evil.example/callback"},
        {"response_type": "token"},
        {"scope": "write:media"},
        {"code_challenge": CHALLENGE, "code_challenge_method": "plain"},
    ],
)
def test_the_page_of_the_grant_refuses_what_was_not_registered(client: Client, changes: dict[str, str]) -> None:
    with pytest.raises(ValueError):
        client.grant(**changes)


def test_a_code_gives_a_token_of_the_scopes_that_were_granted(server: FakeMastodon, client: Client) -> None:
    status, made = client.token(client.grant(scope="write:statuses"))

    assert (status, made["token_type"], made["scope"]) == (200, "Bearer", "write:statuses")
    assert server.tokens_of("alice")[made["access_token"]] == {"write:statuses"}
    assert {"refresh_token", "expires_in"} & set(made) == set()


def test_a_code_is_valid_once(client: Client) -> None:
    code = client.grant()

    assert [client.token(code)[0] for _ in range(2)] == [200, 400]


def test_a_code_is_valid_for_ten_minutes(client: Client) -> None:
    code = client.grant()

    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=10, seconds=1)):
        assert client.token(code)[1]["error"] == "invalid_grant"


@pytest.mark.parametrize(
    ("changes", "status", "error"),
    [
        ({"redirect_uri": "https://app.example/other"}, 400, "invalid_grant"),
        ({"code_verifier": "w" * 43}, 400, "invalid_grant"),
        ({"code_verifier": ""}, 400, "invalid_grant"),
        ({"client_secret": "wrong"}, 401, "invalid_client"),
        ({"client_id": "unknown"}, 401, "invalid_client"),
        ({"grant_type": "refresh_token"}, 400, "unsupported_grant_type"),
    ],
)
def test_a_code_is_its_own_applications_with_its_verifier(
    client: Client, changes: dict[str, str], status: int, error: str
) -> None:
    code = client.grant(code_challenge=CHALLENGE, code_challenge_method="S256")

    answer = client.token(code, **{"code_verifier": VERIFIER, **changes})

    assert (answer[0], answer[1]["error"]) == (status, error)


def test_a_token_is_revoked_by_its_own_application(server: FakeMastodon, client: Client) -> None:
    token = client.token(client.grant())[1]["access_token"]
    stranger = Client(server)

    def revoke(by: Client) -> int:
        secrets = {name: by.keys[name] for name in ("client_id", "client_secret")}
        return client.post("/oauth/revoke", token=token, **secrets)[0]

    assert (revoke(stranger), token in server.tokens_of("alice")) == (403, True)
    assert [revoke(client) for _ in range(2)] == [200, 200]
    assert token not in server.tokens_of("alice")


def test_the_documents_name_the_software_and_the_scopes(server: FakeMastodon, client: Client) -> None:
    def get(address: str) -> Any:
        return client.http.get(address, timeout=5).json()

    metadata = get(f"{server.url}/.well-known/oauth-authorization-server")
    assert {"read", "read:accounts", "write:media"} <= set(metadata["scopes_supported"])
    [link] = get(f"{server.url}/.well-known/nodeinfo")["links"]
    assert get(link["href"])["software"] == {"name": "mastodon", "version": "4.5.0"}
    server.hide(METADATA)
    assert client.http.get(f"{server.url}/.well-known/oauth-authorization-server", timeout=5).status_code == 404
