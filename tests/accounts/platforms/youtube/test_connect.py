from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from pytest_django import Settings

from accounts.platforms.errors import ConnectionUnavailable, CredentialsRejected, PlatformError, RateLimited, Transient
from accounts.platforms.youtube.adapter import YouTube
from tests.accounts.platforms.youtube.steps import REDIRECT_URI, connect
from tests.fakes.http_server import Answer
from tests.fakes.youtube import CHANNELS, TOKEN, FakeYouTube

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
SCOPES = ["https://www.googleapis.com/auth/youtube.readonly", "https://www.googleapis.com/auth/youtube.upload"]


def test_consent_is_asked_for_at_google_for_good_and_beside_what_was_granted(
    youtube: YouTube, settings: Settings
) -> None:
    settings.PLATFORM_SETTINGS = {"YOUTUBE_CLIENT_ID": "the id", "YOUTUBE_CLIENT_SECRET": "s"}

    first, second = (youtube.authorize(state="state-1", redirect_uri=REDIRECT_URI, given={}) for _ in range(2))

    parts = urlsplit(first.url)
    asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
    challenge = asked.pop("code_challenge")
    assert (parts.scheme, parts.netloc, parts.path) == ("https", "accounts.google.com", "/o/oauth2/v2/auth")
    assert sorted(asked.pop("scope").split(" ")) == SCOPES
    assert asked == {
        "response_type": "code",
        "client_id": "the id",
        "redirect_uri": REDIRECT_URI,
        "state": "state-1",
        "access_type": "offline",
        "prompt": "consent",
        "include_granted_scopes": "true",
        "code_challenge_method": "S256",
    }
    assert challenge not in second.url
    assert first.stored["verifier"] not in first.url


def test_a_consent_connects_the_channel(youtube: YouTube, server: FakeYouTube) -> None:
    with time_machine.travel(NOW, tick=False):
        [connection] = connect(youtube, server)

    identity = connection.identity
    assert (identity.handle, identity.display_name) == ("alice0", "Alice0")
    assert identity.profile_url == f"https://www.youtube.com/channel/{identity.external_id}"
    assert identity.avatar_url.startswith("https://yt3.ggpht.com/")
    assert sorted(connection.scopes) == SCOPES
    assert connection.grant.external_id == identity.external_id
    assert connection.grant.expires_at == NOW + timedelta(seconds=3599)
    assert connection.grant.tokens == {
        "access_token": server.access_tokens("alice")[0],
        "refresh_token": server.refresh_tokens("alice")[0],
    }
    assert connection.grant.credentials == {}


def test_a_second_consent_of_the_same_person_brings_a_refresh_token_as_well(
    youtube: YouTube, server: FakeYouTube
) -> None:
    connect(youtube, server)

    [again] = connect(youtube, server)

    assert again.grant.tokens["refresh_token"] in server.refresh_tokens("alice")


def test_every_channel_of_a_grant_is_one_to_pick(youtube: YouTube, server: FakeYouTube) -> None:
    second = server.add_channel("alice")

    connections = connect(youtube, server)

    assert [each.grant.external_id for each in connections] == ["UCalice0", second]


def test_an_account_without_a_channel_is_told_what_is_missing(youtube: YouTube, server: FakeYouTube) -> None:
    server.add_person("bob")

    with pytest.raises(CredentialsRejected, match="no YouTube channel"):
        connect(youtube, server, "bob")


def test_a_code_is_good_for_one_exchange_by_who_began(youtube: YouTube, server: FakeYouTube) -> None:
    authorization = youtube.authorize(state="s", redirect_uri=REDIRECT_URI, given={})
    for code, redirect_uri, verifier in [
        ("guessed", REDIRECT_URI, authorization.stored["verifier"]),
        (None, "https://evil.example/", authorization.stored["verifier"]),
        (None, REDIRECT_URI, "another" * 8),
    ]:
        code = code or server.grant(authorization.url, "alice")
        with pytest.raises(CredentialsRejected):
            youtube.exchange(code=code, redirect_uri=redirect_uri, stored={"verifier": verifier})
    code = server.grant(authorization.url, "alice")
    youtube.exchange(code=code, redirect_uri=REDIRECT_URI, stored=authorization.stored)
    with pytest.raises(CredentialsRejected):
        youtube.exchange(code=code, redirect_uri=REDIRECT_URI, stored=authorization.stored)


@pytest.mark.parametrize("left_out", SCOPES)
def test_a_scope_that_was_not_ticked_is_named(youtube: YouTube, server: FakeYouTube, left_out: str) -> None:
    with pytest.raises(CredentialsRejected) as caught:
        connect(youtube, server, scopes=[scope for scope in SCOPES if scope != left_out])

    assert left_out.rpartition("/")[2] in caught.value.message
    assert "grant everything" in caught.value.suggested_action


@pytest.mark.parametrize("missing", ["YOUTUBE_CLIENT_ID", "YOUTUBE_CLIENT_SECRET"])
def test_without_an_application_nothing_can_be_connected(youtube: YouTube, settings: Settings, missing: str) -> None:
    given = {"YOUTUBE_CLIENT_ID": "a", "YOUTUBE_CLIENT_SECRET": "b"}
    settings.PLATFORM_SETTINGS = given
    assert youtube.unavailable_reason("oauth") is None

    settings.PLATFORM_SETTINGS = {name: value for name, value in given.items() if name != missing}
    assert youtube.unavailable_reason("oauth") == f"The operator of this service has not set {missing}."


def test_a_wrong_application_is_the_operators_to_put_right(
    youtube: YouTube, server: FakeYouTube, settings: Settings
) -> None:
    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "YOUTUBE_CLIENT_SECRET": "wrong"}

    with pytest.raises(ConnectionUnavailable):
        connect(youtube, server)


def google_error(status: int, reason: str) -> Answer:
    return Answer.of_json({"error": {"code": status, "message": "no", "errors": [{"reason": reason}]}}, status)


@pytest.mark.parametrize(
    ("call", "answer", "fault"),
    [
        (TOKEN, Answer(503), Transient),
        (TOKEN, Answer(429, b"", {"Retry-After": "30"}), RateLimited),
        (TOKEN, Answer(200, b"<html>"), Transient),
        (CHANNELS, Answer(503), Transient),
        (CHANNELS, google_error(403, "quotaExceeded"), RateLimited),
        (CHANNELS, google_error(401, "authError"), CredentialsRejected),
        (CHANNELS, google_error(403, "channelSuspended"), CredentialsRejected),
        (CHANNELS, google_error(403, "accessNotConfigured"), ConnectionUnavailable),
        (CHANNELS, Answer(200, b"<html>"), Transient),
        (CHANNELS, Answer.of_json({"kind": "youtube#channelListResponse", "items": [{"id": "../1"}]}), Transient),
    ],
)
def test_what_fails_on_the_way_is_told_by_what_helps(
    youtube: YouTube, server: FakeYouTube, call: str, answer: Answer, fault: type[PlatformError]
) -> None:
    server.refuse_next(call, answer)

    with pytest.raises(PlatformError) as caught:
        connect(youtube, server)

    assert type(caught.value) is fault


def test_no_fault_and_no_value_shows_a_secret(youtube: YouTube, server: FakeYouTube, settings: Settings) -> None:
    connections = connect(youtube, server)
    shown = [repr(connections), repr(youtube.authorize(state="s", redirect_uri=REDIRECT_URI, given={}))]
    for call, status in [(TOKEN, 400), (TOKEN, 500), (CHANNELS, 401), (CHANNELS, 403), (CHANNELS, 500)]:
        server.refuse_next(call, google_error(status, "forbidden"))
        with pytest.raises(PlatformError) as caught:
            connect(youtube, server)
        shown.append(f"{caught.value!r} {caught.value.__cause__!r}")

    secrets = [*server.access_tokens("alice"), *server.refresh_tokens("alice"), "GOCSPX"]
    assert not any(secret in " ".join(shown) for secret in secrets)
