"""The stand-in of LinkedIn keeps applications apart, and opens nothing beyond the scopes of a token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
import requests

from tests.fakes.linkedin import FakeLinkedIn
from tests.fakes.linkedin_oauth import (
    CLIENT_ID,
    CLIENT_SECRET,
    COMMUNITY_MANAGEMENT,
    PAGES_CLIENT_ID,
    PAGES_CLIENT_SECRET,
    SHARE,
    Application,
)

REDIRECT_URI = "https://service.example/callback"
SECRETS = {CLIENT_ID: CLIENT_SECRET, PAGES_CLIENT_ID: PAGES_CLIENT_SECRET}
VERSIONED = {"LinkedIn-Version": "202610", "X-Restli-Protocol-Version": "2.0.0"}


@pytest.fixture
def server() -> Iterator[FakeLinkedIn]:
    with FakeLinkedIn() as running:
        running.register_redirect(REDIRECT_URI)
        running.add_member("Alice Doe", pages={"1": "Acme"})
        yield running


def call(server: FakeLinkedIn, method: str, path: str, access: Any = None, **what: Any) -> requests.Response:
    headers = {"Authorization": f"Bearer {access['access_token']}", **VERSIONED} if access else {}
    with requests.Session() as http:
        return http.request(method, server.url + path, headers=headers, timeout=5, **what)


def code_of(server: FakeLinkedIn, client_id: str, scope: str) -> str:
    asked = {"response_type": "code", "client_id": client_id, "redirect_uri": REDIRECT_URI, "state": "s", "scope": scope}
    return server.grant(f"{server.url}/oauth/v2/authorization?{urlencode(asked)}", "Alice Doe")


def token(server: FakeLinkedIn, client_id: str, **form: str) -> Any:
    named = {"client_id": client_id, "client_secret": SECRETS[client_id], "redirect_uri": REDIRECT_URI}
    return call(server, "POST", "/oauth/v2/accessToken", data={**named, **form}).json()


def granted(server: FakeLinkedIn, client_id: str, scope: str) -> Any:
    return token(server, client_id, grant_type="authorization_code", code=code_of(server, client_id, scope))


@pytest.mark.parametrize(
    ("client_id", "scope", "path", "fields"),
    [
        (CLIENT_ID, "openid profile", "/v2/userinfo", {"sub": "m0-X_z", "name": "Alice Doe"}),
        (CLIENT_ID, "w_member_social", "/v2/userinfo", None),
        (CLIENT_ID, "openid profile", "/v2/me", None),
        (
            PAGES_CLIENT_ID,
            "r_basicprofile",
            "/v2/me",
            {"id": "m0-X_z-p", "localizedFirstName": "Alice", "localizedLastName": "Doe", "vanityName": "alice-doe"},
        ),
        (PAGES_CLIENT_ID, "r_basicprofile", "/v2/userinfo", None),
        (PAGES_CLIENT_ID, "w_organization_social", "/v2/me", None),
    ],
)
def test_the_scope_of_the_call_decides_which_id_is_returned(
    server: FakeLinkedIn, client_id: str, scope: str, path: str, fields: dict[str, str] | None
) -> None:
    answer = call(server, "GET", path, granted(server, client_id, scope))

    assert answer.status_code == (200 if fields else 403)
    assert {name: answer.json()[name] for name in fields or ()} == (fields or {})


@pytest.mark.parametrize(
    ("client_id", "scope"),
    [
        (CLIENT_ID, "openid w_organization_social"),
        (CLIENT_ID, "w_member_social_feed"),
        (CLIENT_ID, "r_basicprofile"),
        (PAGES_CLIENT_ID, "openid"),
        (PAGES_CLIENT_ID, "profile"),
    ],
)
def test_an_application_asks_for_the_scopes_of_its_products_alone(server: FakeLinkedIn, client_id: str, scope: str) -> None:
    with pytest.raises(ValueError, match="unauthorized_scope_error"):
        code_of(server, client_id, scope)


def test_the_community_management_api_stands_alone() -> None:
    with pytest.raises(ValueError, match="only product"):
        Application("secret", (COMMUNITY_MANAGEMENT, SHARE))


def test_codes_and_tokens_are_of_one_application(server: FakeLinkedIn) -> None:
    code = code_of(server, CLIENT_ID, "w_member_social")
    assert token(server, PAGES_CLIENT_ID, grant_type="authorization_code", code=code)["error"] == "invalid_request"

    refresh_token = granted(server, CLIENT_ID, "w_member_social")["refresh_token"]
    renewal = {"grant_type": "refresh_token", "refresh_token": refresh_token}
    assert token(server, PAGES_CLIENT_ID, **renewal)["error"] == "invalid_grant"
    assert token(server, CLIENT_ID, **renewal)["refresh_token"] == refresh_token


@pytest.mark.parametrize(("feed", "status"), [("", 403), (" w_organization_social_feed", 201)])
def test_a_comment_takes_a_scope_of_its_own(server: FakeLinkedIn, feed: str, status: int) -> None:
    access = granted(server, PAGES_CLIENT_ID, f"w_organization_social{feed}")
    body = {
        "author": "urn:li:organization:1",
        "commentary": "Hello",
        "visibility": "PUBLIC",
        "distribution": {"feedDistribution": "MAIN_FEED", "targetEntities": [], "thirdPartyDistributionChannels": []},
        "lifecycleState": "PUBLISHED",
        "isReshareDisabledByAuthor": False,
    }
    urn = call(server, "POST", "/rest/posts", access, json=body).headers["x-restli-id"]
    comment = {"actor": body["author"], "object": urn, "message": {"text": "First!"}}

    assert call(server, "POST", f"/rest/socialActions/{urn}/comments", access, json=comment).status_code == status
