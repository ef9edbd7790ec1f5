from __future__ import annotations

import re

import pytest
from pytest_django import Settings

from accounts.platforms.discord.adapter import Discord
from accounts.platforms.errors import CredentialsRejected, PlatformError, Transient
from tests.fakes.discord import GET, FakeDiscord, FakeWebhook
from tests.fakes.http_server import Answer


def test_a_webhook_connects_its_channel(
    discord: Discord, server: FakeDiscord, webhook: FakeWebhook, settings: Settings
) -> None:
    connection = discord.connect_with_credentials({"webhook_url": f" {webhook.url}\n"})

    assert connection.grant.tokens == {"channel_id": webhook.channel_id, "guild_id": webhook.guild_id}
    assert (connection.identity.avatar_url, connection.grant.expires_at) == ("", None)
    assert discord.check_and_identify(connection.grant) == connection.identity
    agent = server.requests[0].headers["user-agent"]
    assert re.fullmatch(r"DiscordBot \(https?://\S+, \d+\.\d+\.\d+\)", agent)
    assert settings.BASE_URL in agent


@pytest.mark.parametrize(
    "host", ["discord.com", "discordapp.com", "ptb.discord.com", "canary.discord.com", "canary.discordapp.com"]
)
@pytest.mark.parametrize("version", ["", "/v9", "/v10"])
def test_every_host_and_version_of_discord_leads_to_the_api(
    discord: Discord, webhook: FakeWebhook, host: str, version: str
) -> None:
    address = f"https://{host}/api{version}/webhooks/{webhook.id}/{webhook.token}"

    assert discord.connect_with_credentials({"webhook_url": address}).identity.external_id == webhook.id


def test_addresses_at_the_operators_server_are_accepted(
    discord: Discord, webhook: FakeWebhook, server: FakeDiscord, settings: Settings
) -> None:
    for api_base in (server.url, f"{server.url}/", f"{server.url}/api/v10"):
        settings.PLATFORM_SETTINGS = {"DISCORD_API_BASE": api_base}
        for path in ("", "/api", "/api/v10"):
            server.refuse_next(GET, Answer.of_json({"id": webhook.id, "name": "News"}))
            address = f"{server.url}{path}/webhooks/{webhook.id}/{webhook.token}"
            assert discord.connect_with_credentials({"webhook_url": address}).identity.external_id == webhook.id


@pytest.mark.parametrize(
    "address",
    [
        "",
        "https://discord.com",
        "https://discord.com/api/webhooks/1",
        "https://discord.com/api/webhooks/me/token",
        "https://discord.com/api/webhooks/1/to.ken",
        "https://discord.com/api/webhooks/1/token/slack",
        "https://discord.com/api/webhooks/1/token?wait=true",
        "https://discord.com/api/webhooks/1/../token",
        "http://discord.com/api/webhooks/1/token",
        "https://discord.com:8443/api/webhooks/1/token",
        "https://discord.com.example.org/api/webhooks/1/token",
        "https://user@discord.com/api/webhooks/1/token",
        "https://evil.discord.com/api/webhooks/1/token",
        "https://example.org/https://discord.com/api/webhooks/1/token",
        "https://hooks.slack.com/services/T/B/x",
        "https://discord.com/api/webhooks/1/token\nHost: example.org",
        "http://127.0.0.1:1/api/webhooks/1/token",
    ],
)
def test_other_addresses_are_rejected_without_a_request(discord: Discord, server: FakeDiscord, address: str) -> None:
    with pytest.raises(CredentialsRejected):
        discord.connect_with_credentials({"webhook_url": address})

    assert server.requests == ()


def test_without_a_server_of_the_operator_only_discords_addresses_are_accepted(
    discord: Discord, server: FakeDiscord, webhook: FakeWebhook, settings: Settings
) -> None:
    settings.PLATFORM_SETTINGS = {}

    for address in (webhook.url, f"{webhook.url}!"):
        with pytest.raises(CredentialsRejected) as caught:
            discord.connect_with_credentials({"webhook_url": address})
        assert webhook.token not in repr(caught.value)

    assert server.requests == ()


def test_an_avatar_is_shown_only_with_a_valid_hash(discord: Discord, server: FakeDiscord) -> None:
    avatar = "a_bb71f469c158984e265093a81b3397fb"
    valid, hostile = server.add_webhook("News", avatar=avatar), server.add_webhook("", avatar="../../evil.example/a?b=")

    identity = discord.connect_with_credentials({"webhook_url": valid.url}).identity
    assert identity.avatar_url == f"https://cdn.discordapp.com/avatars/{valid.id}/{avatar}.png"
    identity = discord.connect_with_credentials({"webhook_url": hostile.url}).identity
    assert (identity.avatar_url, identity.handle) == ("", f"webhook {hostile.id}")


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (401, {"message": "401: Unauthorized", "code": 0}, CredentialsRejected),
        (403, {"message": "Missing Access", "code": 50001}, CredentialsRejected),
        (400, {"message": "Invalid Form Body", "code": 50035}, CredentialsRejected),
        (403, {"message": "internal network error", "code": 40333}, Transient),
        (200, {"id": "{id}", "type": 2, "name": "News"}, CredentialsRejected),
        (200, {"id": "{id}", "type": 3, "name": "News"}, CredentialsRejected),
        (200, {"id": "1", "name": "Another"}, Transient),
    ],
)
def test_each_answer_to_a_connection_raises_the_matching_error(
    discord: Discord,
    server: FakeDiscord,
    webhook: FakeWebhook,
    status: int,
    body: dict[str, object],
    error: type[PlatformError],
) -> None:
    answer = {name: webhook.id if value == "{id}" else value for name, value in body.items()}
    server.refuse_next(GET, Answer.of_json(answer, status))

    with pytest.raises(PlatformError) as caught:
        discord.connect_with_credentials({"webhook_url": webhook.url})

    assert type(caught.value) is error


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_no_error_shows_the_token(discord: Discord, server: FakeDiscord, webhook: FakeWebhook, status: int) -> None:
    address = webhook.url.replace(webhook.token, "short-token")  # longer ones are removed from all texts of platforms
    webhook.token = "short-token"
    grant = discord.connect_with_credentials({"webhook_url": address}).grant
    echo = {"message": f"no route for /webhooks/{webhook.id}/{webhook.token}", "code": 0}
    server.refuse_next(GET, Answer.of_json(echo, status), times=2)

    for verb in (lambda: discord.connect_with_credentials(grant.credentials), lambda: discord.check_and_identify(grant)):
        with pytest.raises(PlatformError) as caught:
            verb()
        assert webhook.token not in f"{caught.value!r} {caught.value.__cause__!r} {grant!r}"
