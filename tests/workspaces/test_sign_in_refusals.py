"""Failed sign-ins: no session and no user is created, and the page explains the error."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
import time_machine
from django.utils import timezone

from tests.fakes.http_server import Answer
from tests.fakes.openid import CLIENT_SECRET, DISCOVERY, KEYS, TOKEN, USERINFO, FakeOpenIdProvider, new_key, unsigned
from tests.occupied_threads import occupy_all_outbound_threads
from tests.workspaces.browsers import BEGIN, CALLBACK, begin, new_browser, send_form, sign_in, signed_in, use_provider
from workspaces.models import User


def assert_refused(answer: Any, status: int, words: str) -> None:
    """Assert an error page with a sign-in button, without a session and without a new user."""
    assert answer.status_code == status
    assert words in answer.content.decode()
    assert not signed_in(answer.client)
    assert not User.objects.exists()


def test_each_request_has_a_new_state_nonce_and_pkce_challenge(provider: FakeOpenIdProvider) -> None:
    asked = [parse_qs(urlsplit(begin(new_browser())).query) for _ in range(2)]

    assert asked[0]["redirect_uri"] == ["http://127.0.0.1:8000/dashboard/sign-in/callback"]
    assert asked[0]["scope"] == ["openid profile email"]
    assert asked[0]["code_challenge_method"] == ["S256"]
    for name in ("state", "nonce", "code_challenge"):
        assert len(asked[0][name][0]) >= 32
        assert asked[0][name] != asked[1][name]


def test_the_code_exchange_sends_pkce_verifier_and_client_credentials(provider: FakeOpenIdProvider) -> None:
    sign_in(provider, "alice")

    [exchange] = [request for request in provider.requests if request.path == "/token"]
    form = parse_qs(exchange.body.decode())
    assert len(form["code_verifier"][0]) >= 43
    assert exchange.headers["authorization"].startswith("Basic ")
    assert "client_secret" not in form


def test_a_callback_in_another_browser_is_refused(provider: FakeOpenIdProvider) -> None:
    begun_elsewhere = provider.sign_in(begin(new_browser()), "alice")

    assert_refused(new_browser().get(begun_elsewhere), 400, "started in another browser")
    assert provider.requests_to(TOKEN) == 0


def test_a_callback_works_only_once(provider: FakeOpenIdProvider) -> None:
    browser = new_browser()
    callback = provider.sign_in(begin(browser), "alice")
    browser.get(callback)

    assert browser.get(callback).status_code == 400
    assert provider.requests_to(TOKEN) == 1


def test_two_tabs_may_sign_in_at_the_same_time(provider: FakeOpenIdProvider) -> None:
    browser = new_browser()
    first, second = (provider.sign_in(begin(browser), "alice") for _ in range(2))

    assert [browser.get(callback).status_code for callback in (second, first)] == [302, 302]
    assert User.objects.count() == 1


def test_a_sign_in_expires_after_half_an_hour(provider: FakeOpenIdProvider) -> None:
    browser = new_browser()
    callback = provider.sign_in(begin(browser), "alice")
    with time_machine.travel(timezone.now() + timedelta(minutes=31)):
        assert_refused(browser.get(callback), 400, "took too long")


@pytest.mark.parametrize("query", ["", "?code=x", "?state=x", "?state=&code=", "?code=x&state=" + "x" * 5000])
def test_a_callback_without_a_started_sign_in_is_refused(provider: FakeOpenIdProvider, query: str) -> None:
    assert_refused(new_browser().get(CALLBACK + query), 400, "started in another browser")
    assert not provider.requests


def test_a_user_who_cancels_at_the_provider_is_not_signed_in(provider: FakeOpenIdProvider) -> None:
    browser = new_browser()
    state = parse_qs(urlsplit(begin(browser)).query)["state"][0]

    assert_refused(browser.get(f"{CALLBACK}?error=access_denied&state={state}"), 403, "cancelled at the identity provider")


FORGERIES: dict[str, Callable[[FakeOpenIdProvider, str], str]] = {
    "another key under the same id": lambda provider, token: provider.signed(_claims(token), new_key("key-1")),
    "no signature": lambda provider, token: unsigned(token, alg="none", typ="JWT"),
    "no signature under a known id": lambda provider, token: unsigned(token, alg="ES256", kid="key-1"),
    "signed with the client's secret": lambda provider, token: jwt.encode(
        _claims(token), CLIENT_SECRET * 2, "HS256", {"kid": "key-1"}
    ),
    "no token": lambda provider, token: "not.a.token",
}
WRONG_CLAIMS: dict[str, dict[str, Any]] = {
    "another nonce": {"nonce": "another"},
    "no nonce": {"nonce": None},
    "another issuer": {"iss": "https://other.example"},
    "another audience": {"aud": "another-client"},
    "several audiences without azp": {"aud": ["client-of-the-service", "another-client"]},
    "another authorized party": {"azp": "another-client"},
    "no subject": {"sub": None},
    "an empty subject": {"sub": ""},
    "a subject with NUL": {"sub": "a\0b"},
    "a subject that is too long": {"sub": "x" * 256},
    "no expiry": {"exp": None},
    "expired": {"exp": int(time.time()) - 31},
    "not yet valid": {"nbf": int(time.time()) + 3600},
    "issued long ago": {"iat": int(time.time()) - 3600},
    "an access token that it does not belong to": {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"},
}


def _claims(token: str) -> dict[str, Any]:
    return dict(jwt.decode(token, options={"verify_signature": False}))


@pytest.mark.parametrize("wrong", WRONG_CLAIMS.values(), ids=WRONG_CLAIMS)
def test_a_token_with_a_wrong_claim_is_refused(provider: FakeOpenIdProvider, wrong: dict[str, Any]) -> None:
    provider.discovery_extra = {"userinfo_endpoint": None}
    provider.id_token_extra = wrong

    assert_refused(sign_in(provider, "alice"), 502, "not valid")


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_token_is_refused_at_sign_in(
    provider: FakeOpenIdProvider, forge: Callable[[FakeOpenIdProvider, str], str]
) -> None:
    issue = provider._exchange

    def forged(request: Any) -> Answer:
        body = json.loads(issue(request).body)
        return Answer.of_json({**body, "id_token": forge(provider, body["id_token"])})

    provider._exchange = forged  # type: ignore[method-assign]

    assert_refused(sign_in(provider, "alice"), 502, "not valid")


@pytest.mark.parametrize("userinfo", [{"sub": "bob"}, {"sub": None}, {"sub": 1}])
def test_userinfo_of_another_subject_is_refused(provider: FakeOpenIdProvider, userinfo: dict[str, Any]) -> None:
    provider.userinfo_extra = userinfo

    assert_refused(sign_in(provider, "alice"), 502, "not valid")


def test_clocks_may_differ_a_little(provider: FakeOpenIdProvider) -> None:
    now = int(time.time())
    provider.id_token_extra = {"nbf": now + 20, "iat": now + 20}

    assert signed_in(sign_in(provider, "alice").client)


def test_changed_provider_keys_are_fetched(provider: FakeOpenIdProvider) -> None:
    sign_in(provider, "alice")
    provider.rotate()
    with time_machine.travel(timezone.now() + timedelta(minutes=1)):
        assert signed_in(sign_in(provider, "alice").client)


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (DISCOVERY, Answer(503)),
        (DISCOVERY, Answer.of_json(["no", "document"])),
        (DISCOVERY, Answer(200, b"<html>")),
        (DISCOVERY, Answer(302, b"", {"Location": "https://other.example/"})),
        (DISCOVERY, Answer.of_json({"issuer": "https://other.example"})),
        (DISCOVERY, Answer(200, b" " * 1_100_000)),
    ],
)
def test_a_sign_in_cannot_start_while_the_provider_does_not_answer(
    provider: FakeOpenIdProvider, call: str, answer: Answer
) -> None:
    provider.refuse_next(call, answer)
    browser = new_browser()
    token = browser.get("/dashboard/sign-in").cookies["csrftoken"].value
    page = browser.post("/dashboard/sign-in/begin", {"csrfmiddlewaretoken": token, "next": "/dashboard/?all=1"})

    assert_refused(page, 503, "does not answer")
    assert 'value="/dashboard/?all=1"' in page.content.decode()


@pytest.mark.parametrize("call", [KEYS, TOKEN, USERINFO])
def test_a_provider_error_during_the_callback_is_refused(provider: FakeOpenIdProvider, call: str) -> None:
    provider.fail_next(call, 503)

    assert_refused(sign_in(provider, "alice"), 503, "does not answer")


def test_a_connection_closed_by_the_provider_is_refused(provider: FakeOpenIdProvider) -> None:
    provider.drop_next(TOKEN)

    assert_refused(sign_in(provider, "alice"), 503, "does not answer")


def test_requests_to_the_provider_use_the_outbound_guard(provider: FakeOpenIdProvider, settings: Any) -> None:
    use_provider(settings, provider)
    settings.OUTBOUND_ALLOW_LOOPBACK = False
    browser = new_browser()
    token = browser.get("/dashboard/sign-in").cookies["csrftoken"].value

    assert_refused(browser.post("/dashboard/sign-in/begin", {"csrfmiddlewaretoken": token}), 503, "does not answer")
    assert not provider.requests


def test_a_sign_in_is_refused_when_no_thread_for_outbound_requests_is_free(provider: FakeOpenIdProvider) -> None:
    browser = new_browser()
    with occupy_all_outbound_threads():
        refused = send_form(browser, "/dashboard/sign-in", BEGIN)
    callback = provider.sign_in(begin(browser), "alice")
    with occupy_all_outbound_threads():
        landed = browser.get(callback)

    for page in (refused, landed):
        assert page.status_code == 429
        assert "Too many requests are waiting for other servers." in page.content.decode()
    assert provider.requests_to(TOKEN) == 0
    assert browser.get(callback).status_code == 302  # the state is still good
    assert signed_in(browser)
