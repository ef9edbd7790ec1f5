from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from pytest_django import Settings

from accounts.platforms.errors import ConnectionUnavailable, CredentialsRejected, PlatformError, RateLimited, Transient
from accounts.platforms.pinterest.adapter import Pinterest
from tests.accounts.platforms.pinterest.steps import REDIRECT_URI, connect
from tests.fakes.http_server import Answer
from tests.fakes.pinterest import ME, TOKEN, FakePinterest

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
SCOPES = ["boards:read", "boards:write", "pins:read", "pins:write", "user_accounts:read"]
INVALID_GRANT = Answer.of_json({"code": 283, "message": "The authorization grant is invalid"}, 400)
NO_SUCH_APP = Answer.of_json({"code": 283, "message": "Invalid Application ID"}, 400)


def test_consent_is_asked_for_on_pinterests_own_page(pinterest: Pinterest, settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {"PINTEREST_CLIENT_ID": "the id", "PINTEREST_CLIENT_SECRET": "s"}

    authorization = pinterest.authorize(state="state-1", redirect_uri=REDIRECT_URI, given={})

    parts = urlsplit(authorization.url)
    assert f"{parts.scheme}://{parts.netloc}{parts.path}" == "https://www.pinterest.com/oauth/"
    assert {name: values[0] for name, values in parse_qs(parts.query).items()} == {
        "response_type": "code",
        "client_id": "the id",
        "redirect_uri": REDIRECT_URI,
        "scope": ",".join(SCOPES),
        "state": "state-1",
    }


def test_a_consent_connects_one_account_however_many_boards_it_has(pinterest: Pinterest, server: FakePinterest) -> None:
    with time_machine.travel(NOW, tick=False):
        connection = connect(pinterest, server)

    identity = connection.identity
    assert (identity.handle, identity.display_name) == ("alice", "Alice")
    assert identity.profile_url == "https://www.pinterest.com/alice/"
    assert identity.avatar_url.startswith("https://i.pinimg.com/")
    assert connection.scopes == tuple(SCOPES)
    assert connection.grant.external_id == identity.external_id
    assert connection.grant.expires_at == NOW + timedelta(days=30)
    assert connection.grant.tokens == {
        "access_token": server.access_tokens("alice")[0],
        "refresh_token": server.refresh_tokens("alice")[0],
    }


def test_a_code_is_good_for_one_exchange(pinterest: Pinterest, server: FakePinterest) -> None:
    code = server.grant(pinterest.authorize(state="s", redirect_uri=REDIRECT_URI, given={}).url, "alice")
    pinterest.exchange(code=code, redirect_uri=REDIRECT_URI, stored={})

    for used in (code, "guessed"):
        with pytest.raises(CredentialsRejected):
            pinterest.exchange(code=used, redirect_uri=REDIRECT_URI, stored={})


@pytest.mark.parametrize("left_out", SCOPES)
def test_a_consent_to_less_than_is_needed_is_told_by_what_is_missing(
    pinterest: Pinterest, server: FakePinterest, left_out: str
) -> None:
    with pytest.raises(CredentialsRejected, match=left_out):
        connect(pinterest, server, [scope for scope in SCOPES if scope != left_out])


@pytest.mark.parametrize(
    ("call", "answer", "fault"),
    [
        (TOKEN, Answer(503), Transient),
        (TOKEN, Answer(429, b"", {"Retry-After": "30"}), RateLimited),
        (TOKEN, Answer(200, b"<html>"), Transient),
        (TOKEN, INVALID_GRANT, CredentialsRejected),
        (TOKEN, NO_SUCH_APP, ConnectionUnavailable),
        (TOKEN, Answer.of_json({"access_token": "a", "scope": " ".join(SCOPES)}), CredentialsRejected),
        (ME, Answer(503), Transient),
        (ME, Answer(401), CredentialsRejected),
        (ME, Answer.of_json({"id": 5, "username": "alice"}), Transient),
        (ME, Answer.of_json({"id": "5", "username": "../admin"}), Transient),
    ],
)
def test_what_fails_on_the_way_is_told_by_what_helps(
    pinterest: Pinterest, server: FakePinterest, call: str, answer: Answer, fault: type[PlatformError]
) -> None:
    server.refuse_next(call, answer)

    with pytest.raises(PlatformError) as caught:
        connect(pinterest, server)

    assert type(caught.value) is fault


@pytest.mark.parametrize("missing", ["PINTEREST_CLIENT_ID", "PINTEREST_CLIENT_SECRET"])
def test_without_an_app_nothing_can_be_connected(pinterest: Pinterest, settings: Settings, missing: str) -> None:
    given = {"PINTEREST_CLIENT_ID": "a", "PINTEREST_CLIENT_SECRET": "b"}
    settings.PLATFORM_SETTINGS = given
    assert pinterest.unavailable_reason("oauth") is None

    settings.PLATFORM_SETTINGS = {name: value for name, value in given.items() if name != missing}
    assert pinterest.unavailable_reason("oauth") == f"The operator of this service has not set {missing}."


def test_a_wrong_app_is_the_operators_to_put_right(
    pinterest: Pinterest, server: FakePinterest, settings: Settings
) -> None:
    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "PINTEREST_CLIENT_SECRET": "wrong"}

    with pytest.raises(ConnectionUnavailable):
        connect(pinterest, server)
