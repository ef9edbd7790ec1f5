from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from pytest_django import Settings

from accounts.platforms.errors import ConnectionUnavailable, CredentialsRejected, PlatformError, RateLimited, Transient
from accounts.platforms.tiktok.adapter import TikTok
from tests.accounts.platforms.tiktok.steps import REDIRECT_URI, connect
from tests.fakes.http_server import Answer
from tests.fakes.tiktok import CREATOR, TOKEN, USER, FakeTikTok

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def refused(status: int, code: str) -> Answer:
    return Answer.of_json({"data": {}, "error": {"code": code, "message": "no", "log_id": "1"}}, status)


def told(**data: Any) -> Answer:
    return Answer.of_json({"data": data, "error": {"code": "ok"}})


def test_consent_is_asked_for_at_tiktok(tiktok: TikTok, settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {"TIKTOK_CLIENT_ID": "the key", "TIKTOK_CLIENT_SECRET": "s"}

    parts = urlsplit(tiktok.authorize(state="state-1", redirect_uri=REDIRECT_URI, given={}).url)

    assert (parts.scheme, parts.netloc, parts.path) == ("https", "www.tiktok.com", "/v2/auth/authorize/")
    assert {name: values[0] for name, values in parse_qs(parts.query).items()} == {
        "client_key": "the key",
        "scope": "user.info.basic,video.publish",
        "response_type": "code",
        "redirect_uri": REDIRECT_URI,
        "state": "state-1",
    }


def test_a_consent_connects_the_creator(tiktok: TikTok, server: FakeTikTok) -> None:
    with time_machine.travel(NOW, tick=False):
        connection = connect(tiktok, server)

    identity = connection.identity
    assert (identity.external_id, identity.handle, identity.display_name) == ("open-alice", "alice", "Alice")
    assert identity.profile_url == "https://www.tiktok.com/@alice"
    assert identity.avatar_url.startswith("https://p16-sign.tiktokcdn.com/")
    assert connection.scopes == ("user.info.basic", "video.publish")
    assert connection.grant.external_id == identity.external_id
    assert connection.grant.expires_at == NOW + timedelta(hours=2)
    assert connection.grant.tokens == {
        "access_token": server.access_tokens("alice")[0],
        "refresh_token": server.refresh_tokens("alice")[0],
    }


def test_an_app_that_has_to_prove_itself_does_so_in_tiktoks_way(
    tiktok: TikTok, server: FakeTikTok, settings: Settings
) -> None:
    server.is_a_desktop_app()
    with pytest.raises(ValueError, match="code_challenge"):
        connect(tiktok, server)

    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "TIKTOK_PKCE": "hex"}

    assert connect(tiktok, server).identity.handle == "alice"
    authorization = tiktok.authorize(state="s", redirect_uri=REDIRECT_URI, given={})
    code = server.grant(authorization.url, "alice")
    with pytest.raises(CredentialsRejected):
        tiktok.exchange(code=code, redirect_uri=REDIRECT_URI, stored={"verifier": "another" * 8})
    assert authorization.stored["verifier"] not in authorization.url


def test_the_standard_challenge_can_be_set(tiktok: TikTok, settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {"TIKTOK_PKCE": "S256"}

    asked = parse_qs(urlsplit(tiktok.authorize(state="s", redirect_uri=REDIRECT_URI, given={}).url).query)

    assert (len(asked["code_challenge"][0]), asked["code_challenge_method"]) == (43, ["S256"])


def test_a_code_is_good_for_one_exchange_at_its_address(tiktok: TikTok, server: FakeTikTok) -> None:
    authorization = tiktok.authorize(state="s", redirect_uri=REDIRECT_URI, given={})
    code = server.grant(authorization.url, "alice")
    for given, redirect_uri in [("guessed", REDIRECT_URI), (code, "https://evil.example/"), (code, REDIRECT_URI)]:
        with pytest.raises(CredentialsRejected):
            tiktok.exchange(code=given, redirect_uri=redirect_uri, stored=authorization.stored)


@pytest.mark.parametrize("left_out", ["user.info.basic", "video.publish"])
def test_a_scope_that_was_not_granted_is_named(tiktok: TikTok, server: FakeTikTok, left_out: str) -> None:
    with pytest.raises(CredentialsRejected, match=left_out):
        connect(tiktok, server, scopes=[scope for scope in ("user.info.basic", "video.publish") if scope != left_out])


@pytest.mark.parametrize("missing", ["TIKTOK_CLIENT_ID", "TIKTOK_CLIENT_SECRET"])
def test_without_an_app_nothing_can_be_connected(tiktok: TikTok, settings: Settings, missing: str) -> None:
    given = {"TIKTOK_CLIENT_ID": "a", "TIKTOK_CLIENT_SECRET": "b"}
    settings.PLATFORM_SETTINGS = given
    assert tiktok.unavailable_reason("oauth") is None

    settings.PLATFORM_SETTINGS = {name: value for name, value in given.items() if name != missing}
    assert tiktok.unavailable_reason("oauth") == f"The operator of this service has not set {missing}."


@pytest.mark.parametrize(
    ("call", "answer", "fault"),
    [
        (TOKEN, Answer(503), Transient),
        (TOKEN, Answer.of_json({"error": "invalid_client"}, 400), ConnectionUnavailable),
        (TOKEN, Answer.of_json({"error": "invalid_grant"}, 200), CredentialsRejected),
        (TOKEN, Answer(200, b"<html>"), Transient),
        (USER, Answer(503), Transient),
        (USER, refused(200, "internal_error"), Transient),
        (USER, refused(401, "scope_not_authorized"), CredentialsRejected),
        (USER, refused(200, "access_token_invalid"), CredentialsRejected),
        (USER, told(), Transient),
        (USER, told(user={"open_id": "../1"}), Transient),
        (CREATOR, refused(429, "rate_limit_exceeded"), RateLimited),
        (CREATOR, refused(403, "reached_active_user_cap"), ConnectionUnavailable),
        (CREATOR, refused(403, "spam_risk_user_banned_from_posting"), CredentialsRejected),
        (CREATOR, told(creator_username="../admin", privacy_level_options=[]), Transient),
        (CREATOR, Answer(200, b"<html>"), Transient),
    ],
)
def test_what_fails_on_the_way_is_told_by_what_helps(
    tiktok: TikTok, server: FakeTikTok, call: str, answer: Answer, fault: type[PlatformError]
) -> None:
    server.refuse_next(call, answer)

    with pytest.raises(PlatformError) as caught:
        connect(tiktok, server)

    assert type(caught.value) is fault


def test_no_fault_and_no_value_shows_a_secret(tiktok: TikTok, server: FakeTikTok) -> None:
    shown = [repr(connect(tiktok, server)), repr(tiktok.authorize(state="s", redirect_uri=REDIRECT_URI, given={}))]
    for call, status in [(TOKEN, 400), (TOKEN, 500), (USER, 401), (CREATOR, 403), (CREATOR, 500)]:
        server.refuse_next(call, refused(status, "spam_risk"))
        with pytest.raises(PlatformError) as caught:
            connect(tiktok, server)
        shown.append(f"{caught.value!r} {caught.value.__cause__!r}")

    secrets = [*server.access_tokens("alice"), *server.refresh_tokens("alice"), "secret-of-the-app"]
    assert not any(secret in " ".join(shown) for secret in secrets)
