from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from pytest_django import Settings

from accounts.platforms.errors import ConnectionUnavailable, CredentialsRejected, PlatformError, RateLimited, Transient
from accounts.platforms.x.adapter import X
from tests.accounts.platforms.x.scripted_server import ScriptedServer
from tests.accounts.platforms.x.steps import REDIRECT_URI, connect
from tests.fakes.http_server import Answer
from tests.fakes.x import FakeX
from tests.fakes.x_methods import ME, TOKEN
from tests.fakes.x_oauth import CLIENT_ID, CLIENT_SECRET

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
SCOPES = ["tweet.read", "tweet.write", "users.read", "media.write", "offline.access"]
ALICE = {"id": "1", "name": "Alice", "username": "alice", "profile_image_url": "https://pbs.twimg.com/a.jpg"}
TOKENS = {
    "access_token": "secret-token",
    "refresh_token": "secret-refresh",
    "expires_in": 7200,
    "scope": " ".join(SCOPES),
}


def exchange(x: X, code: str = "c", redirect_uri: str = REDIRECT_URI, verifier: str = "v") -> Any:
    return x.exchange(code=code, redirect_uri=redirect_uri, stored={"verifier": verifier})


def test_consent_is_asked_for_on_xs_own_page_with_what_the_service_needs(x: X, settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {"X_CLIENT_ID": "the id", "X_CLIENT_SECRET": "s"}

    first, second = (x.authorize(state="state-1", redirect_uri=REDIRECT_URI, given={}) for _ in range(2))

    parts = urlsplit(first.url)
    asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
    challenge = asked.pop("code_challenge")
    assert (parts.scheme, parts.netloc, parts.path) == ("https", "x.com", "/i/oauth2/authorize")
    assert asked == {
        "response_type": "code",
        "client_id": "the id",
        "redirect_uri": REDIRECT_URI,
        "scope": " ".join(SCOPES),
        "state": "state-1",
        "code_challenge_method": "S256",
    }
    assert challenge not in second.url
    assert first.stored["verifier"] not in first.url


def test_a_consent_connects_the_account(x: X, server: FakeX) -> None:
    with time_machine.travel(NOW, tick=False):
        connection = connect(x, server)

    identity = connection.identity
    assert (identity.handle, identity.display_name) == ("alice", "Alice")
    assert identity.profile_url == "https://x.com/alice"
    assert identity.avatar_url.startswith("https://pbs.twimg.com/profile_images/")
    assert connection.scopes == tuple(SCOPES)
    assert connection.grant.external_id == identity.external_id
    assert connection.grant.expires_at == NOW + timedelta(hours=2)
    assert connection.grant.tokens == {
        "access_token": server.access_tokens("alice")[0],
        "refresh_token": server.refresh_tokens("alice")[0],
        "username": "alice",
    }
    assert connection.grant.credentials == {}


def test_a_code_is_good_for_one_exchange_by_who_began_and_for_half_a_minute(x: X, server: FakeX) -> None:
    authorization = x.authorize(state="s", redirect_uri=REDIRECT_URI, given={})
    verifier = authorization.stored["verifier"]
    with time_machine.travel(NOW, tick=False) as clock:
        for code, redirect_uri, proof, seconds in [
            ("guessed", REDIRECT_URI, verifier, 0),
            (None, "https://evil.example/", verifier, 0),
            (None, REDIRECT_URI, "another" * 8, 0),
            (None, REDIRECT_URI, verifier, 31),
        ]:
            code = code or server.grant(authorization.url, "alice")
            clock.shift(seconds)
            with pytest.raises(CredentialsRejected):
                exchange(x, code, redirect_uri, proof)
        code = server.grant(authorization.url, "alice")
        exchange(x, code, REDIRECT_URI, verifier)
        with pytest.raises(CredentialsRejected):
            exchange(x, code, REDIRECT_URI, verifier)


@pytest.mark.parametrize("left_out", SCOPES)
def test_a_consent_to_less_than_is_needed_is_told_by_what_is_missing(x: X, server: FakeX, left_out: str) -> None:
    with pytest.raises(CredentialsRejected) as caught:
        connect(x, server, scopes=[scope for scope in SCOPES if scope != left_out])

    assert left_out in caught.value.message
    assert "grant everything" in caught.value.suggested_action


def test_a_grant_without_a_refresh_token_would_end_in_two_hours(x: X, scripted: ScriptedServer) -> None:
    scripted.answers[TOKEN] = Answer.of_json({**TOKENS, "refresh_token": ""})

    with pytest.raises(CredentialsRejected, match="a refresh token"):
        exchange(x)


@pytest.mark.parametrize("missing", ["X_CLIENT_ID", "X_CLIENT_SECRET"])
def test_without_an_app_nothing_can_be_connected(x: X, settings: Settings, missing: str) -> None:
    given = {"X_CLIENT_ID": "a", "X_CLIENT_SECRET": "b"}
    settings.PLATFORM_SETTINGS = given
    assert x.unavailable_reason("oauth") is None

    settings.PLATFORM_SETTINGS = {name: value for name, value in given.items() if name != missing}
    assert x.unavailable_reason("oauth") == f"The operator of this service has not set {missing}."


def test_a_wrong_app_is_the_operators_to_put_right(x: X, server: FakeX, settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "X_CLIENT_SECRET": "wrong"}

    with pytest.raises(ConnectionUnavailable):
        connect(x, server)


@pytest.mark.parametrize(
    ("call", "answer", "fault"),
    [
        (TOKEN, Answer(503), Transient),
        (TOKEN, Answer(429, b"", {"Retry-After": "30"}), RateLimited),
        (TOKEN, Answer(200, b"<html>"), Transient),
        (ME, Answer(503), Transient),
        (ME, Answer(429), RateLimited),
        (ME, Answer(401), CredentialsRejected),
        (ME, Answer.of_json({"title": "CreditsDepleted"}, 402), ConnectionUnavailable),
        (ME, Answer(200, b"<html>"), Transient),
        (ME, Answer.of_json({"data": {**ALICE, "id": 1}}), Transient),
        (ME, Answer.of_json({"data": {**ALICE, "username": "../admin"}}), Transient),
    ],
)
def test_what_fails_on_the_way_is_told_by_what_helps(
    x: X, scripted: ScriptedServer, call: str, answer: Answer, fault: type[PlatformError]
) -> None:
    scripted.answers |= {TOKEN: Answer.of_json(TOKENS), ME: Answer.of_json({"data": ALICE}), call: answer}

    with pytest.raises(PlatformError) as caught:
        exchange(x)

    assert type(caught.value) is fault


def test_a_suspended_account_is_not_connected(x: X, server: FakeX) -> None:
    server.suspend("alice")

    with pytest.raises(CredentialsRejected, match="suspended"):
        connect(x, server)


def test_a_hostile_profile_is_cut_down_to_harmless_text(x: X, scripted: ScriptedServer) -> None:
    profile = {**ALICE, "name": "A\x00\n" + "x " * 2500, "profile_image_url": "javascript:alert(1)"}
    scripted.answers |= {TOKEN: Answer.of_json(TOKENS), ME: Answer.of_json({"data": profile})}

    [connection] = exchange(x)

    assert connection.identity.display_name == "A  " + "x " * 148 + "x"
    assert connection.identity.avatar_url == ""


def test_no_fault_and_no_value_shows_a_secret(x: X, scripted: ScriptedServer) -> None:
    shown = []
    for call, status in [(TOKEN, 400), (TOKEN, 500), (ME, 401), (ME, 403), (ME, 500)]:
        scripted.answers |= {TOKEN: Answer.of_json(TOKENS), call: Answer.of_json({"detail": "no"}, status)}
        with pytest.raises(PlatformError) as caught:
            exchange(x, code="secret-code", verifier="secret-verifier")
        shown.append(f"{caught.value!r} {caught.value.__cause__!r}")
    scripted.answers |= {TOKEN: Answer.of_json(TOKENS), ME: Answer.of_json({"data": ALICE})}

    text = " ".join([*shown, repr(exchange(x)), repr(x.authorize(state="s", redirect_uri=REDIRECT_URI, given={}))])

    assert "secret-" not in text
    assert CLIENT_SECRET not in text
    assert CLIENT_ID not in " ".join(shown)
