"""Connecting and identifying accounts, as far as X differs from other platforms."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from pytest_django import Settings

from accounts.platforms.errors import ConnectionUnavailable, CredentialsRejected, ReauthRequired
from accounts.platforms.types import Grant
from accounts.platforms.x.adapter import X
from tests.accounts.platforms.contract.world import redirect_uri
from tests.accounts.platforms.x.world import PlatformWorld
from tests.fakes.http_server import Answer
from tests.fakes.x import FakeX
from tests.fakes.x_methods import TOKEN
from tests.posts.rows import NOON

SCOPES = ("tweet.read", "tweet.write", "users.read", "media.write", "offline.access")


def test_owners_grant_access_on_x_with_pkce(settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {"X_CLIENT_ID": "the id", "X_CLIENT_SECRET": "s"}

    url = X().begin_oauth(state="state-1", redirect_uri=redirect_uri(), given={}).url

    params = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    assert url.startswith("https://x.com/i/oauth2/authorize?")
    assert len(params.pop("code_challenge")) == 43
    assert params == {
        "response_type": "code",
        "client_id": "the id",
        "redirect_uri": redirect_uri(),
        "scope": " ".join(SCOPES),
        "state": "state-1",
        "code_challenge_method": "S256",
    }


def test_a_connection_stores_both_tokens_and_the_user_name(world: PlatformWorld, server: FakeX) -> None:
    connection = world.connection()

    assert connection.scopes == SCOPES
    assert connection.grant.expires_at == NOON + timedelta(hours=2)
    assert connection.grant.tokens == {
        "access_token": server.access_tokens("alice")[0],
        "refresh_token": server.refresh_tokens("alice")[0],
        "username": "alice",
    }


def test_a_grant_without_a_refresh_token_is_rejected(world: PlatformWorld, server: FakeX) -> None:
    tokens = {"access_token": "secret-token", "refresh_token": "", "scope": " ".join(SCOPES)}
    server.refuse_next(TOKEN, Answer.of_json(tokens))

    with pytest.raises(CredentialsRejected, match="a refresh token"):
        world.connection()


def test_a_suspended_account_is_disconnected(world: PlatformWorld, server: FakeX, grant: Grant) -> None:
    server.suspend("alice")

    with pytest.raises(ReauthRequired, match="suspended"):
        X().check_and_identify(grant)
    with pytest.raises(CredentialsRejected, match="suspended"):
        world.connection()


def test_without_credits_at_x_no_account_can_be_used(world: PlatformWorld, server: FakeX, grant: Grant) -> None:
    server.use_up_credits()

    with pytest.raises(ConnectionUnavailable) as caught:
        X().check_and_identify(grant)
    with pytest.raises(ConnectionUnavailable):
        world.connection()

    assert "operator" in caught.value.suggested_action


def test_disconnecting_revokes_both_tokens(server: FakeX, grant: Grant) -> None:
    X().revoke_grant(grant)

    assert (server.refresh_tokens("alice"), server.access_tokens("alice")) == ([], [])
