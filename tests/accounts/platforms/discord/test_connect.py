from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from pytest_django import Settings

from accounts.platforms.discord.adapter import Discord
from accounts.platforms.errors import AccountDisconnected, CredentialsRejected, PlatformError, RateLimited, Transient
from accounts.platforms.types import Grant
from tests.fakes.discord import GET, FakeDiscord, FakeWebhook
from tests.fakes.http_server import Answer


def test_a_webhook_connects_its_channel(discord: Discord, webhook: FakeWebhook) -> None:
    connection = discord.connect({"webhook_url": f" {webhook.url}\n"})

    assert connection.identity.external_id == webhook.id
    assert (connection.identity.handle, connection.identity.avatar_url) == ("News", "")
    assert connection.identity.profile_url == f"https://discord.com/channels/{webhook.guild_id}/{webhook.channel_id}"
    assert connection.grant.external_id == webhook.id
    assert connection.grant.tokens == {"channel_id": webhook.channel_id, "guild_id": webhook.guild_id}
    assert connection.grant.expires_at is None
    assert discord.identify(connection.grant) == connection.identity


@pytest.mark.parametrize(
    "host", ["discord.com", "discordapp.com", "ptb.discord.com", "canary.discord.com", "canary.discordapp.com"]
)
@pytest.mark.parametrize("version", ["", "/v9", "/v10"])
def test_every_form_of_discords_addresses_leads_to_the_api(
    discord: Discord, webhook: FakeWebhook, host: str, version: str
) -> None:
    address = f"https://{host}/api{version}/webhooks/{webhook.id}/{webhook.token}"

    assert discord.connect({"webhook_url": address}).identity.external_id == webhook.id


@pytest.mark.parametrize("stand_in", ["{origin}", "{origin}/", "{origin}/api/v10"])
def test_addresses_of_the_operators_stand_in_are_taken_as_well(
    discord: Discord, webhook: FakeWebhook, server: FakeDiscord, settings: Settings, stand_in: str
) -> None:
    settings.PLATFORM_SETTINGS = {"DISCORD_API_BASE": stand_in.format(origin=server.url)}
    server.refuse_next(GET, Answer.of_json({"id": webhook.id, "name": "News"}), times=3)
    home = f"{server.url}{{}}/webhooks/{webhook.id}/{webhook.token}"

    for path in ("", "/api", "/api/v10"):
        assert discord.connect({"webhook_url": home.format(path)}).identity.external_id == webhook.id


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
def test_anything_else_is_refused_and_nobody_is_asked(discord: Discord, server: FakeDiscord, address: str) -> None:
    with pytest.raises(CredentialsRejected):
        discord.connect({"webhook_url": address})

    assert server.requests == ()


def test_without_a_stand_in_only_discords_own_addresses_are_taken(
    discord: Discord, server: FakeDiscord, webhook: FakeWebhook, settings: Settings
) -> None:
    settings.PLATFORM_SETTINGS = {}

    with pytest.raises(CredentialsRejected):
        discord.connect({"webhook_url": webhook.url})

    assert server.requests == ()


def test_name_and_picture_are_shown_as_harmless_text(discord: Discord, server: FakeDiscord) -> None:
    hash_of_it = "a_bb71f469c158984e265093a81b3397fb"
    pictured = server.add_webhook("A\x00\n" + "x" * 5000, avatar=hash_of_it)
    hostile = server.add_webhook("", avatar="../../evil.example/a?b=")

    identity = discord.connect({"webhook_url": pictured.url}).identity
    assert identity.avatar_url == f"https://cdn.discordapp.com/avatars/{pictured.id}/{hash_of_it}.png"
    assert identity.handle == "A  " + "x" * 297
    identity = discord.connect({"webhook_url": hostile.url}).identity
    assert (identity.avatar_url, identity.handle) == ("", f"webhook {hostile.id}")


@pytest.mark.parametrize("change", ["deleted", "another token"])
def test_a_webhook_that_discord_does_not_know_is_rejected(
    discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant, change: str
) -> None:
    if change == "deleted":
        server.delete_webhook(webhook)
    else:
        webhook.token = "renewed-by-its-owner"

    with pytest.raises(CredentialsRejected):
        discord.connect(grant.credentials)
    with pytest.raises(AccountDisconnected):
        discord.identify(grant)


@pytest.mark.parametrize("kind", [2, 3])
def test_a_webhook_that_posts_no_messages_is_rejected(
    discord: Discord, server: FakeDiscord, webhook: FakeWebhook, kind: int
) -> None:
    server.refuse_next(GET, Answer.of_json({"id": webhook.id, "type": kind, "name": "News"}))

    with pytest.raises(CredentialsRejected):
        discord.connect({"webhook_url": webhook.url})


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer.of_json({"message": "401: Unauthorized", "code": 0}, 401), CredentialsRejected),
        (Answer.of_json({"message": "Missing Access", "code": 50001}, 403), CredentialsRejected),
        (Answer.of_json({"message": "Invalid Form Body", "code": 50035}, 400), CredentialsRejected),
        (Answer.of_json({"message": "internal network error", "code": 40333}, 403), Transient),
        (Answer(403, b"<html>error code: 1015</html>"), Transient),
        (Answer(404, b"<html>"), Transient),
        (Answer(302, b"", {"Location": "https://discord.com/"}), Transient),
        (Answer(200, b"<html>Welcome</html>"), Transient),
        (Answer(200, b"[]"), Transient),
        (Answer.of_json({"id": "1", "name": "Another"}), Transient),
        (Answer.of_json({"id": 7}), Transient),
    ],
)
def test_what_discord_says_at_connection_is_told_by_what_helps(
    discord: Discord, server: FakeDiscord, webhook: FakeWebhook, answer: Answer, fault: type[PlatformError]
) -> None:
    server.refuse_next(GET, answer)

    with pytest.raises(PlatformError) as caught:
        discord.connect({"webhook_url": webhook.url})

    assert type(caught.value) is fault


def test_an_outage_and_a_limit_are_passing_faults(discord: Discord, server: FakeDiscord, grant: Grant) -> None:
    server.drop_next(GET)
    with pytest.raises(Transient):
        discord.identify(grant)

    server.fail_next(GET, status=502)
    with pytest.raises(Transient):
        discord.connect(grant.credentials)

    server.rate_limit_next(GET, retry_after=64.57)
    with pytest.raises(RateLimited) as caught:
        discord.connect(grant.credentials)
    assert caught.value.retry_after == 64.57


def test_tokens_cannot_be_renewed_and_revoking_leaves_the_owners_webhook(
    discord: Discord, server: FakeDiscord, grant: Grant
) -> None:
    with pytest.raises(AccountDisconnected):
        discord.refresh(grant)

    discord.revoke(grant)

    assert [request.method for request in server.requests] == ["GET"]
    assert discord.identify(grant).handle == "News"


def test_requests_name_the_service_as_discord_asks(server: FakeDiscord, grant: Grant, settings: Settings) -> None:
    (request,) = server.requests

    assert re.fullmatch(r"DiscordBot \(https?://\S+, \d+\.\d+\.\d+\)", request.headers["user-agent"])
    assert settings.BASE_URL in request.headers["user-agent"]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_no_fault_shows_the_token(
    discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant, status: int
) -> None:
    echo: dict[str, Any] = {"message": f"no route for /webhooks/{webhook.id}/{webhook.token}", "code": 0}
    server.refuse_next(GET, Answer.of_json(echo, status), times=2)

    faults: list[Exception] = []
    for verb in (lambda: discord.connect(grant.credentials), lambda: discord.identify(grant)):
        with pytest.raises(PlatformError) as caught:
            verb()
        faults.append(caught.value)

    assert not any(webhook.token in f"{fault!r} {fault.__cause__!r}" for fault in faults)
    assert webhook.token not in repr(grant)
    with pytest.raises(CredentialsRejected) as rejected:
        discord.connect(replace(grant, credentials={"webhook_url": webhook.url + "!"}).credentials)
    assert webhook.token not in repr(rejected.value)
