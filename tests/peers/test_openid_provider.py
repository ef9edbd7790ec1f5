"""Sign-in at an independent OpenID provider (oidc-provider-mock, in a thread of the tests), and its ID token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from tests.conftest import ApiClient
from tests.workspaces.browsers import begin, new_browser, signed_in
from workspaces.models import User
from workspaces.sign_in import provider as published

peer = pytest.importorskip("oidc_provider_mock")
pytestmark = [pytest.mark.peer, pytest.mark.django_db]
CALLBACK = "http://127.0.0.1:8000/dashboard/sign-in/callback"


@pytest.fixture
def issuer(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Start the provider and configure the service for it; return its address."""
    monkeypatch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")  # it speaks plain http on this machine
    alice = peer.User(sub="alice", claims={"email": "alice@example.com", "email_verified": True, "groups": ["operators"]})
    with peer.run_server_in_thread(require_nonce=True, user_claims=[alice]) as server:
        settings.OIDC_ISSUER = f"http://localhost:{server.server_port}"
        settings.OIDC_CLIENT_ID = settings.OIDC_AUDIENCE = "the-service"
        settings.OIDC_CLIENT_SECRET, settings.OIDC_STAFF_CLAIM = "a secret", "groups=operators"
        settings.OUTBOUND_ALLOW_LOOPBACK = True
        published.cached_provider_of_issuer.cache_clear()
        yield settings.OIDC_ISSUER


def grant(address: str, **form: str) -> str:
    """Answer the provider's page without the service; return the path and query to which the browser is sent back."""
    answer = requests.request("POST", address, data=form, allow_redirects=False, timeout=10)  # noqa: TID251
    assert answer.status_code == 302, answer.text
    back = urlsplit(answer.headers["Location"])
    return f"{back.path}?{back.query}"


def test_a_user_signs_in(issuer: str) -> None:
    browser = new_browser()
    answer = browser.get(grant(begin(browser), sub="alice"))

    assert (answer.status_code, answer["Location"]) == (302, "/dashboard/")
    assert signed_in(browser)
    made = User.objects.get()
    assert (made.identity_issuer, made.identity_subject) == (issuer, "alice")
    assert (made.email, made.email_verified, made.is_staff) == ("alice@example.com", True, True)


def test_a_user_who_denies_access_is_not_signed_in(issuer: str) -> None:
    browser = new_browser()
    answer = browser.get(grant(begin(browser), action="deny"))

    assert answer.status_code == 403
    assert not User.objects.exists()


def test_an_id_token_is_not_accepted_by_the_api(issuer: str) -> None:
    query = {"client_id": "the-service", "redirect_uri": CALLBACK, "response_type": "code", "scope": "openid", "nonce": "n"}
    asked = requests.Request("GET", f"{issuer}/oauth2/authorize", params=query).prepare()
    code = grant(str(asked.url), sub="bob").partition("code=")[2].partition("&")[0]
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "client_id": "the-service"}
    token = requests.request(  # noqa: TID251
        "POST", f"{issuer}/oauth2/token", data={**form, "client_secret": "a secret"}, timeout=10
    ).json()["id_token"]

    answer = ApiClient(token).get("/workspaces?owner_user_id=usr_01jd0000000000000000000000")
    assert answer.status_code == 401
    assert "ID token" in answer.json()["message"]
    assert not User.objects.exists()
