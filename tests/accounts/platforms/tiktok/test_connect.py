from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from pytest_django import Settings

from accounts.platforms.errors import (
    ConnectionUnavailable,
    CredentialsRejected,
    PlatformError,
    RateLimited,
    ReauthRequired,
    Transient,
)
from accounts.platforms.registry import get_adapter
from tests.accounts.platforms.adapter_steps import Account
from tests.accounts.platforms.contract.world import World, redirect_uri
from tests.accounts.platforms.tiktok.content import data, refused
from tests.fakes.http_server import Answer
from tests.fakes.tiktok import CREATOR, TOKEN, USER, FakeTikTok

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def consent_parameters() -> dict[str, str]:
    """The parameters of the consent page, which is TikTok's."""
    parts = urlsplit(get_adapter("tiktok").begin_oauth(state="state-1", redirect_uri=redirect_uri(), given={}).url)
    assert (parts.scheme, parts.netloc, parts.path) == ("https", "www.tiktok.com", "/v2/auth/authorize/")
    return {name: values[0] for name, values in parse_qs(parts.query).items()}


def test_the_consent_page_gets_a_client_key_and_a_challenge_if_the_operator_says_so(settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {"TIKTOK_CLIENT_ID": "the key", "TIKTOK_CLIENT_SECRET": "s"}
    params = {
        "client_key": "the key",
        "scope": "user.info.basic,video.publish",
        "response_type": "code",
        "redirect_uri": redirect_uri(),
        "state": "state-1",
    }
    assert consent_parameters() == params

    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "TIKTOK_PKCE": "S256"}
    with_challenge = consent_parameters()
    assert len(with_challenge.pop("code_challenge")) == 43
    assert with_challenge == {**params, "code_challenge_method": "S256"}


def test_an_app_that_has_to_use_pkce_sends_its_challenge_in_hexadecimal(
    world: World, server: FakeTikTok, settings: Settings
) -> None:
    server.require_pkce()
    with pytest.raises(ValueError, match="code_challenge"):
        world.connection()

    settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, "TIKTOK_PKCE": "hex"}

    assert world.connection().identity.handle == "alice"
    authorization = get_adapter("tiktok").begin_oauth(state="s", redirect_uri=redirect_uri(), given={})
    with pytest.raises(CredentialsRejected):
        get_adapter("tiktok").exchange_code_for_accounts(
            code=world.grant(authorization.url), redirect_uri=redirect_uri(), stored={"verifier": "another" * 8}
        )


def test_a_connection_has_the_creators_picture_scopes_and_expiry(world: World) -> None:
    with time_machine.travel(NOW, tick=False):
        connection = world.connection()

    assert connection.identity.avatar_url.startswith("https://p16-sign.tiktokcdn.com/")
    assert connection.scopes == ("user.info.basic", "video.publish")
    assert connection.grant.expires_at == NOW + timedelta(hours=2)


@pytest.mark.parametrize(
    ("call", "answer", "error"),
    [
        (TOKEN, Answer.of_json({"error": "invalid_grant"}, 200), CredentialsRejected),
        (TOKEN, Answer.of_json({"error": "invalid_client"}, 200), ConnectionUnavailable),
        (USER, refused(200, "internal_error"), Transient),
        (USER, refused(401, "scope_not_authorized"), CredentialsRejected),
        (USER, refused(200, "access_token_invalid"), CredentialsRejected),
        (USER, refused(403, "a_new_code"), Transient),
        (USER, data(), Transient),
        (CREATOR, refused(200, "rate_limit_exceeded"), RateLimited),
        (CREATOR, refused(403, "reached_active_user_cap"), ConnectionUnavailable),
        (CREATOR, refused(403, "spam_risk_user_banned_from_posting"), CredentialsRejected),
    ],
)
def test_an_error_is_translated_by_its_code_whatever_its_status(
    world: World, server: FakeTikTok, call: str, answer: Answer, error: type[PlatformError]
) -> None:
    server.refuse_next(call, answer)

    with pytest.raises(PlatformError) as caught:
        world.connection()

    assert type(caught.value) is error


@pytest.mark.parametrize(("name", "error"), [("invalid_grant", ReauthRequired), ("invalid_request", Transient)])
def test_the_error_of_a_renewal_is_translated_by_its_name_whatever_its_status(
    server: FakeTikTok, account: Account, name: str, error: type[PlatformError]
) -> None:
    server.refuse_next(TOKEN, Answer.of_json({"error": name}, 200))

    with pytest.raises(error):
        account.adapter.refresh_grant(account.grant)
