from __future__ import annotations

from typing import Any

import pytest

from accounts.platforms.errors import ContentRejected, TokenExpired
from accounts.platforms.telegram.adapter import Telegram
from accounts.platforms.types import Grant, Published
from tests.accounts.platforms.telegram.steps import publish, send, start
from tests.fakes.http_server import Answer
from tests.fakes.telegram import FakeTelegram


def test_a_text_is_published_in_two_steps(telegram: Telegram, server: FakeTelegram, grant: Grant, channel: int) -> None:
    progress = start(telegram, grant, "Hello 👋")
    assert (progress.phase, server.messages(channel)) == ("send", ())

    published = send(telegram, grant, progress)

    (message,) = server.messages(channel)
    assert (message.kind, message.text, message.entities) == ("text", "Hello 👋", ())
    assert published == Published(str(message.message_id), f"https://t.me/the_news/{message.message_id}")
    assert server.requests_to("sendMessage") == 1
    assert telegram.irreversible == {"send"}


def test_a_text_is_marked_up_only_with_a_parse_mode(
    telegram: Telegram, server: FakeTelegram, grant: Grant, channel: int
) -> None:
    publish(telegram, grant, "1 < 2 & *a_b* [x](y).")
    publish(telegram, grant, '1 &lt; 2 <b>bold</b> <a href="https://ex.com">link</a>', parse_mode="HTML")
    publish(telegram, grant, r"*bold* _a\_b_ 1\.", parse_mode="MarkdownV2")

    plain, html, markdown = server.messages(channel)
    assert (plain.text, plain.entities) == ("1 < 2 & *a_b* [x](y).", ())
    assert html.text == "1 < 2 bold link"
    assert [(entity["type"], entity.get("url")) for entity in html.entities] == [
        ("bold", None),
        ("text_link", "https://ex.com"),
    ]
    assert (markdown.text, [entity["type"] for entity in markdown.entities]) == ("bold a_b 1.", ["bold", "italic"])


DEFAULTS: dict[str, Any] = {
    "silent": False,
    "protected": False,
    "preview": True,
    "reply_to": None,
    "thread": None,
    "keyboard": [],
}


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        ({}, {}),
        ({"disable_notification": True}, {"silent": True}),
        ({"protect_content": True}, {"protected": True}),
        ({"link_preview": False}, {"preview": False}),
        ({"link_preview": True, "disable_notification": False, "protect_content": False}, {}),
        ({"reply_to_message_id": 1}, {"reply_to": 1}),
        ({"message_thread_id": 77}, {"thread": 77}),
    ],
)
def test_options_are_sent(
    telegram: Telegram, server: FakeTelegram, grant: Grant, channel: int, options: dict[str, Any], changed: dict[str, Any]
) -> None:
    server.add_topic(channel, 77)
    publish(telegram, grant, "First")

    publish(telegram, grant, "Second", **options)

    assert server.messages(channel)[-1].options == DEFAULTS | changed


@pytest.mark.parametrize(
    ("kind", "username", "permalink"),
    [
        ("channel", "news", "https://t.me/news/1"),
        ("supergroup", "friends", "https://t.me/friends/1"),
        ("channel", "", "https://t.me/c/{}/1"),
        ("supergroup", "", "https://t.me/c/{}/1"),
        ("group", "", ""),
        ("private", "alice", ""),
    ],
)
def test_the_permalink_depends_on_the_kind_of_chat(
    telegram: Telegram, server: FakeTelegram, token: str, kind: Any, username: str, permalink: str
) -> None:
    chat = server.add_chat(kind, "Chat", username=username)
    server.set_member(chat, token, "administrator", can_post_messages=True)
    grant = telegram.connect_with_credentials({"bot_token": token, "chat_id": str(chat)}).grant

    published = publish(telegram, grant, "Hello")

    assert published == Published("1", permalink.format(str(chat).removeprefix("-100")))


def test_the_permalink_uses_the_channels_current_username(
    telegram: Telegram, server: FakeTelegram, grant: Grant, channel: int
) -> None:
    chat = {"id": channel, "type": "channel", "title": "Old News", "username": "old_news"}
    server.refuse_next("sendMessage", Answer.of_json({"ok": True, "result": {"message_id": 5, "chat": chat}}))
    assert publish(telegram, grant, "Hello").permalink == "https://t.me/old_news/5"

    server.refuse_next("sendMessage", Answer.of_json({"ok": True, "result": {"message_id": 6, "chat": None}}))
    assert publish(telegram, grant, "Hello").permalink == "https://t.me/the_news/6"


def test_a_message_that_telegram_posts_later_has_no_permalink(telegram: Telegram, server: FakeTelegram, grant: Grant) -> None:
    server.refuse_next("sendMessage", Answer.of_json({"ok": True, "result": {"message_id": 0}}))

    assert publish(telegram, grant, "Hello") == Published("", "")


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_a_post_without_text_and_media_is_rejected_before_anything_is_sent(
    telegram: Telegram, server: FakeTelegram, grant: Grant, text: str
) -> None:
    with pytest.raises(ContentRejected):
        start(telegram, grant, text)

    assert server.requests_to("sendMessage") == 0


@pytest.mark.parametrize(
    ("text", "options", "reason"),
    [
        ("😀" * 2049, {}, "message is too long"),
        ("<b>" + "a" * 4097 + "</b>", {"parse_mode": "HTML"}, "message is too long"),
        ("<div>a</div>", {"parse_mode": "HTML"}, 'can\'t parse entities: unsupported start tag "div" at byte offset 0'),
        ("1.", {"parse_mode": "MarkdownV2"}, "can't parse entities: character '.' is reserved and must be escaped"),
        ("Hello", {"reply_to_message_id": 9}, "message to be replied not found"),
        ("Hello", {"message_thread_id": 9}, "message thread not found"),
    ],
)
def test_a_text_that_telegram_refuses_is_rejected_with_its_reason(
    telegram: Telegram, server: FakeTelegram, grant: Grant, channel: int, text: str, options: dict[str, Any], reason: str
) -> None:
    progress = start(telegram, grant, text, **options)

    with pytest.raises(ContentRejected) as caught:
        send(telegram, grant, progress)

    assert caught.value.message.startswith(f"Telegram does not accept this post: Bad Request: {reason}")
    assert server.messages(channel) == ()


def test_the_limit_is_for_the_text_without_markup(
    telegram: Telegram, server: FakeTelegram, grant: Grant, channel: int
) -> None:
    publish(telegram, grant, f"<b>{'😀' * 2048}</b>", parse_mode="HTML")

    assert len(server.messages(channel)) == 1


@pytest.fixture
def group(server: FakeTelegram, token: str) -> int:
    chat = server.add_chat("group", "Friends")
    server.set_member(chat, token, "member")
    return chat


@pytest.fixture
def group_grant(telegram: Telegram, token: str, group: int) -> Grant:
    return telegram.connect_with_credentials({"bot_token": token, "chat_id": str(group)}).grant


def test_a_group_that_became_a_supergroup_gets_the_message_once(
    telegram: Telegram, server: FakeTelegram, group: int, group_grant: Grant
) -> None:
    supergroup = server.upgrade(group)
    with pytest.raises(TokenExpired):
        publish(telegram, group_grant, "Hello")

    renewed = telegram.refresh_grant(group_grant)
    published = publish(telegram, renewed, "Hello")

    assert [message.text for message in server.messages(supergroup)] == ["Hello"]
    assert server.messages(group) == ()
    assert renewed.tokens == {"chat_id": supergroup, "chat_type": "supergroup", "chat_username": ""}
    assert (renewed.external_id, renewed.credentials) == (group_grant.external_id, group_grant.credentials)
    assert published.permalink == f"https://t.me/c/{str(supergroup).removeprefix('-100')}/1"
