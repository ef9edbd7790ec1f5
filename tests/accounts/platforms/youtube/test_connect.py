from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from pytest_django import Settings

from accounts.platforms.errors import ConnectionUnavailable, CredentialsRejected, PlatformError, RateLimited
from accounts.platforms.registry import get_adapter
from accounts.platforms.types import AuthorizedAccount
from tests.accounts.platforms.adapter_steps import Account
from tests.accounts.platforms.contract.world import World, redirect_uri
from tests.accounts.platforms.youtube.content import google_error
from tests.fakes.http_server import Answer
from tests.fakes.youtube import CHANNELS, READ_SCOPE, UPLOAD_SCOPE, FakeYouTube

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def connections(world: World) -> tuple[AuthorizedAccount, ...]:
    """All channels that the owner's grant opens."""
    authorization = get_adapter("youtube").begin_oauth(state="state-1", redirect_uri=redirect_uri(), given={})
    code = world.grant(authorization.url)
    return get_adapter("youtube").exchange_code_for_accounts(
        code=code, redirect_uri=redirect_uri(), stored=authorization.stored
    )


def test_the_consent_page_is_googles_and_asks_for_a_refresh_token(settings: Settings) -> None:
    settings.PLATFORM_SETTINGS = {"YOUTUBE_CLIENT_ID": "the id", "YOUTUBE_CLIENT_SECRET": "s"}

    parts = urlsplit(get_adapter("youtube").begin_oauth(state="state-1", redirect_uri=redirect_uri(), given={}).url)

    params = {name: values[0] for name, values in parse_qs(parts.query).items()}
    assert (parts.scheme, parts.netloc, parts.path) == ("https", "accounts.google.com", "/o/oauth2/v2/auth")
    assert set(params.pop("scope").split(" ")) == {READ_SCOPE, UPLOAD_SCOPE}
    assert params.pop("code_challenge")
    assert params == {
        "response_type": "code",
        "client_id": "the id",
        "redirect_uri": redirect_uri(),
        "state": "state-1",
        "access_type": "offline",
        "prompt": "consent",
        "include_granted_scopes": "true",
        "code_challenge_method": "S256",
    }


def test_a_grant_opens_every_channel_of_the_owner(world: World, server: FakeYouTube) -> None:
    second = server.add_channel("alice")

    with time_machine.travel(NOW, tick=False):
        first, other = connections(world)

    assert (first.grant.external_id, other.grant.external_id) == ("UCalice0", second)
    assert first.identity.avatar_url.startswith("https://yt3.ggpht.com/")
    assert first.grant.expires_at == NOW + timedelta(seconds=3599)
    assert set(first.scopes) == {READ_SCOPE, UPLOAD_SCOPE}


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer.of_json({"kind": "youtube#channelListResponse"}), CredentialsRejected),  # no channel
        (google_error(403, "quotaExceeded"), RateLimited),
        (google_error(403, "channelSuspended"), CredentialsRejected),
        (google_error(403, "accessNotConfigured"), ConnectionUnavailable),
    ],
)
def test_an_error_of_the_channel_list_is_translated(
    world: World, server: FakeYouTube, answer: Answer, error: type[PlatformError]
) -> None:
    server.refuse_next(CHANNELS, answer)

    with pytest.raises(PlatformError) as caught:
        connections(world)

    assert type(caught.value) is error


def test_the_revocation_sends_the_refresh_token_alone(server: FakeYouTube, account: Account) -> None:
    account.adapter.revoke_grant(account.grant)

    assert parse_qs(server.requests[-1].body.decode()) == {"token": [account.grant.tokens["refresh_token"]]}
