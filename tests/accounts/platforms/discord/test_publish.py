from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from accounts.platforms.discord.adapter import Discord
from accounts.platforms.errors import ContentRejected
from accounts.platforms.types import Grant
from tests.accounts.platforms.discord.steps import send
from tests.fakes.discord import EXECUTE, FakeDiscord, FakeWebhook


def test_a_text_is_posted_to_the_channel(discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant) -> None:
    published = send(discord, grant, "Hello 👋\nhttps://example.com")

    (message,) = server.messages(webhook)
    assert (message["content"], message["flags"]) == ("Hello 👋\nhttps://example.com", 0)
    assert message["author"]["username"] == "News"
    assert published.external_id == message["id"]
    assert published.permalink == (f"https://discord.com/channels/{webhook.guild_id}/{webhook.channel_id}/{message['id']}")
    assert server.requests_to(EXECUTE) == 1


def test_a_message_mentions_nobody(discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant) -> None:
    send(discord, grant, "@everyone <@80351110224678912>")

    (message,) = server.messages(webhook)
    assert (message["content"], message["mention_everyone"]) == ("@everyone <@80351110224678912>", False)
    assert server.requests[-1].json()["allowed_mentions"] == {"parse": []}


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        ({"suppress_embeds": True}, 4),
        ({"suppress_notifications": True}, 4096),
        ({"suppress_embeds": True, "suppress_notifications": True}, 4100),
        ({"suppress_embeds": False, "suppress_notifications": False}, 0),
    ],
)
def test_previews_and_notifications_can_be_suppressed(
    discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant, options: dict[str, Any], flags: int
) -> None:
    send(discord, grant, "Hello", **options)

    assert server.messages(webhook)[0]["flags"] == flags


def test_the_name_can_be_changed(discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant) -> None:
    send(discord, grant, "Hello", username="Town crier")

    assert server.messages(webhook)[0]["author"]["username"] == "Town crier"


def test_the_permalink_of_a_message_in_a_thread_is_in_the_thread(
    discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant
) -> None:
    thread_id = server.add_thread(webhook)

    published = send(discord, grant, "Hello", thread_id=thread_id)

    (message,) = server.messages(webhook)
    assert message["channel_id"] == thread_id
    assert published.permalink.endswith(f"/{webhook.guild_id}/{thread_id}/{message['id']}")


def test_a_message_in_a_forum_starts_a_thread(discord: Discord, server: FakeDiscord) -> None:
    forum = server.add_webhook("Forum", forum=True)
    grant = discord.connect_with_credentials({"webhook_url": forum.url}).grant

    with pytest.raises(ContentRejected, match="must have a thread_name or thread_id"):
        send(discord, grant, "Hello")
    published = send(discord, grant, "Hello", thread_name="Release 2.0")

    (message,) = server.messages(forum)
    assert {message["channel_id"]} == forum.threads
    assert published.permalink.endswith(f"/{forum.guild_id}/{message['channel_id']}/{message['id']}")


def test_an_unknown_thread_is_an_error_of_the_post(
    discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant
) -> None:
    with pytest.raises(ContentRejected) as caught:
        send(discord, grant, "Hello", thread_id="1")

    assert "thread_id" in caught.value.message
    assert server.messages(webhook) == []


@pytest.mark.beyond_the_document("a text that is too long")
def test_a_text_has_at_most_two_thousand_code_points(
    discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant
) -> None:
    send(discord, grant, "😀" * 2000)

    with pytest.raises(ContentRejected) as caught:
        send(discord, grant, "😀" * 2001)

    assert caught.value.message == ("Discord does not accept this message: content: Must be 2000 or fewer in length.")
    assert [message["content"] for message in server.messages(webhook)] == ["😀" * 2000]


def test_a_webhook_without_a_server_has_permalinks(discord: Discord, webhook: FakeWebhook, grant: Grant) -> None:
    published = send(discord, replace(grant, tokens={**grant.tokens, "guild_id": ""}), "Hello")

    assert published.permalink.startswith(f"https://discord.com/channels/@me/{webhook.channel_id}/")
