"""Connecting and identifying accounts, as far as Pinterest differs from other platforms."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from pytest_django import Settings

from accounts.platforms.errors import (
    ConnectionUnavailable,
    CredentialsRejected,
    PlatformError,
    ReauthRequired,
    Transient,
)
from accounts.platforms.pinterest.adapter import Pinterest
from accounts.platforms.types import Grant
from tests.accounts.platforms.contract.world import redirect_uri
from tests.accounts.platforms.pinterest.world import PlatformWorld
from tests.fakes.http_server import Answer
from tests.fakes.pinterest import TOKEN, FakePinterest
from tests.posts.rows import NOON

SCOPES = ("boards:read", "boards:write", "pins:read", "pins:write", "user_accounts:read")


def error(status: int, code: int, message: str) -> Answer:
    return Answer.of_json({"code": code, "message": message}, status)


INVALID_GRANT = error(400, 283, "The authorization grant is invalid")


def test_owners_grant_access_on_pinterest(settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {"PINTEREST_CLIENT_ID": "the id", "PINTEREST_CLIENT_SECRET": "s"}

    url = Pinterest().begin_oauth(state="state-1", redirect_uri=redirect_uri(), given={}).url

    assert url.startswith("https://www.pinterest.com/oauth/?")
    assert {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()} == {
        "response_type": "code",
        "client_id": "the id",
        "redirect_uri": redirect_uri(),
        "scope": ",".join(SCOPES),
        "state": "state-1",
    }


def test_a_login_connects_one_account_for_all_boards(world: PlatformWorld, server: FakePinterest) -> None:
    connection = world.connection()

    assert connection.scopes == SCOPES
    assert connection.grant.expires_at == NOON + timedelta(days=30)
    assert connection.grant.tokens == {
        "access_token": server.access_tokens("alice")[0],
        "refresh_token": server.refresh_tokens("alice")[0],
    }


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (INVALID_GRANT, CredentialsRejected),
        (error(400, 283, "Invalid Application ID"), ConnectionUnavailable),
        (Answer.of_json({"access_token": "a", "scope": " ".join(SCOPES)}), CredentialsRejected),
    ],
)
def test_a_refused_code_and_a_wrong_app_are_different_errors(
    world: PlatformWorld, server: FakePinterest, answer: Answer, expected: type[PlatformError]
) -> None:
    server.refuse_next(TOKEN, answer)

    with pytest.raises(PlatformError) as caught:
        world.connection()

    assert type(caught.value) is expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (INVALID_GRANT, ReauthRequired),
        (error(401, 2, "Authentication failed."), Transient),
        (error(401, 283, "Invalid Application ID"), Transient),
        (error(500, 283, "The authorization grant is invalid"), Transient),
    ],
)
def test_only_an_invalid_grant_disconnects_the_account(
    server: FakePinterest, grant: Grant, answer: Answer, expected: type[PlatformError]
) -> None:
    server.refuse_next(TOKEN, answer)

    with pytest.raises(PlatformError) as caught:
        Pinterest().refresh_grant(grant)

    assert type(caught.value) is expected


def test_a_suspended_account_is_disconnected(server: FakePinterest, grant: Grant) -> None:
    server.suspend("alice")

    with pytest.raises(ReauthRequired, match="suspended"):
        Pinterest().check_and_identify(grant)


def test_disconnecting_revokes_both_tokens(server: FakePinterest, grant: Grant) -> None:
    Pinterest().revoke_grant(grant)

    assert (server.refresh_tokens("alice"), server.access_tokens("alice")) == ([], [])
