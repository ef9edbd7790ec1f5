from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from accounts.platforms.errors import CredentialsRejected
from accounts.platforms.telegram.adapter import Telegram
from accounts.platforms.types import Grant
from tests.fakes.http_server import Answer
from tests.fakes.telegram import FakeTelegram


@pytest.mark.parametrize(
    ("kind", "status", "rights"),
    [
        ("channel", "administrator", {"can_post_messages": True}),
        ("supergroup", "administrator", {}),
        ("supergroup", "member", {}),
        ("supergroup", "restricted", {"is_member": True, "can_send_messages": True}),
        ("group", "member", {}),
        ("group", "creator", {}),
        ("private", "member", {}),
    ],
)
def test_a_private_chat_is_connected_by_its_id(
    telegram: Telegram, server: FakeTelegram, token: str, kind: Any, status: Any, rights: dict[str, bool]
) -> None:
    chat = server.add_chat(kind, "Friends")
    server.set_member(chat, token, status, **rights)

    connection = telegram.connect_with_credentials({"bot_token": f" {token}\n", "chat_id": f"{chat}\n"})

    identity, grant = connection.identity, connection.grant
    assert (identity.external_id, identity.handle, identity.profile_url) == (str(chat), "Friends", "")
    assert grant.credentials == {"bot_token": token, "chat_id": str(chat)}
    assert grant.tokens == {"chat_id": chat, "chat_type": kind, "chat_username": ""}


@pytest.mark.parametrize(
    ("kind", "username", "status", "rights", "message"),
    [
        ("channel", "news", "administrator", {"can_post_messages": False}, "The bot may not post to this channel."),
        ("channel", "news", "administrator", {}, "The bot may not post to this channel."),
        ("channel", "news", "member", {}, "member list is inaccessible"),
        ("channel", "", "left", {}, "bot is not a member of the channel chat"),
        ("supergroup", "", "left", {}, "bot is not a member of the supergroup chat"),
        ("supergroup", "friends", "left", {}, "The bot may not post to this chat."),
        ("supergroup", "friends", "kicked", {}, "bot was kicked from the supergroup chat"),
        ("supergroup", "", "restricted", {"is_member": True}, "The bot may not post to this chat."),
        ("supergroup", "", "restricted", {"can_send_messages": True}, "The bot may not post to this chat."),
        ("group", "", "left", {}, "The bot may not post to this chat."),
    ],
)
def test_a_bot_that_may_not_post_is_rejected_with_advice(
    telegram: Telegram,
    server: FakeTelegram,
    token: str,
    kind: Any,
    username: str,
    status: Any,
    rights: dict[str, bool],
    message: str,
) -> None:
    chat = server.add_chat(kind, "Chat", username=username)
    server.set_member(chat, token, status, **rights)

    with pytest.raises(CredentialsRejected) as caught:
        telegram.connect_with_credentials({"bot_token": token, "chat_id": str(chat)})

    assert message in caught.value.message
    assert caught.value.suggested_action.startswith("Add the bot to the chat and let it post there")


def test_a_member_is_rejected_in_a_group_where_only_administrators_write(
    telegram: Telegram, server: FakeTelegram, token: str
) -> None:
    group = server.add_chat("supergroup", "Announcements")
    server.set_member(group, token, "member")
    server.silence_members(group)

    with pytest.raises(CredentialsRejected):
        telegram.connect_with_credentials({"bot_token": token, "chat_id": str(group)})

    server.set_member(group, token, "administrator")
    telegram.connect_with_credentials({"bot_token": token, "chat_id": str(group)})


def test_a_wrong_token_and_an_unknown_chat_are_rejected(telegram: Telegram, token: str) -> None:
    for wrong in ("123:abc_DEF-1", "not-a-token"):
        with pytest.raises(CredentialsRejected, match="does not accept the bot's token") as caught:
            telegram.connect_with_credentials({"bot_token": wrong, "chat_id": "@the_news"})
        assert "@BotFather" in caught.value.suggested_action

    with pytest.raises(CredentialsRejected, match="Telegram refuses the bot: Bad Request: chat not found"):
        telegram.connect_with_credentials({"bot_token": token, "chat_id": "@nobody"})


def test_a_group_that_became_a_supergroup_is_connected_as_a_supergroup(
    telegram: Telegram, server: FakeTelegram, token: str
) -> None:
    group = server.add_chat("group", "Friends")
    server.set_member(group, token, "member")
    supergroup = server.upgrade(group)

    connection = telegram.connect_with_credentials({"bot_token": token, "chat_id": str(group)})

    assert connection.grant.external_id == str(supergroup)
    assert connection.grant.tokens == {"chat_id": supergroup, "chat_type": "supergroup", "chat_username": ""}


def test_a_renamed_chat_has_the_same_external_id(
    telegram: Telegram, server: FakeTelegram, grant: Grant, channel: int
) -> None:
    renamed = {"id": channel, "type": "channel", "title": "Old News", "username": "old_news"}
    server.refuse_next("getChat", Answer.of_json({"ok": True, "result": renamed}))

    identity = telegram.check_and_identify(grant)

    assert (identity.external_id, identity.handle, identity.display_name) == (str(channel), "@old_news", "Old News")


@pytest.mark.parametrize(
    ("given", "valid"),
    [
        ({"bot_token": "123:abc_DEF-1", "chat_id": "-1001234567890"}, True),
        ({"bot_token": "123:abc_DEF-1", "chat_id": "@the_news"}, True),
        ({"bot_token": "123:abc/getMe?", "chat_id": "@the_news"}, False),
        ({"bot_token": "123", "chat_id": "@the_news"}, False),
        ({"bot_token": "123:abc", "chat_id": "https://t.me/the_news"}, False),
        ({"bot_token": "123:abc", "chat_id": -1001}, False),
        ({"bot_token": "123:abc"}, False),
        ({"bot_token": "123:abc", "chat_id": "1", "password": "x"}, False),
    ],
)
def test_credentials_are_a_bots_token_and_a_chat(given: dict[str, Any], valid: bool) -> None:
    assert jsonschema.Draft202012Validator(Telegram.credentials_schema).is_valid(given) is valid
