from __future__ import annotations

import socket
from typing import Any

import jsonschema
import pytest
from pytest_django import Settings

from accounts.platforms.errors import AccountDisconnected, CredentialsRejected, RateLimited, TokenExpired, Transient
from accounts.platforms.telegram.adapter import Telegram
from accounts.platforms.types import Grant
from tests.fakes.http_server import Answer
from tests.fakes.telegram import FakeTelegram

LOOKS = ["getMe", "getChat", "getChatMember"]


def asked(server: FakeTelegram) -> list[str]:
    return [server.call_of(request) for request in server.requests]


def test_a_channel_is_connected_by_its_name_and_known_by_its_number(
    telegram: Telegram, server: FakeTelegram, token: str, channel: int
) -> None:
    credentials = {"bot_token": token, "chat_id": "@the_news"}

    connection = telegram.connect(credentials)

    identity, grant = connection.identity, connection.grant
    assert identity.external_id == grant.external_id == str(channel)
    assert (identity.handle, identity.display_name) == ("@the_news", "The News")
    assert identity.profile_url == "https://t.me/the_news"
    assert grant.credentials == credentials
    assert grant.tokens == {"chat_id": channel, "chat_type": "channel", "chat_username": "the_news"}
    assert asked(server) == LOOKS


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
def test_a_chat_without_a_name_is_connected_by_its_number(
    telegram: Telegram, server: FakeTelegram, token: str, kind: Any, status: Any, rights: dict[str, bool]
) -> None:
    chat = server.add_chat(kind, "Friends")
    server.set_member(chat, token, status, **rights)

    identity = telegram.connect({"bot_token": f" {token}\n", "chat_id": f"{chat}\n"}).identity

    assert (identity.external_id, identity.handle, identity.profile_url) == (str(chat), "Friends", "")


@pytest.mark.parametrize(
    ("kind", "username", "status", "rights", "told"),
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
def test_a_bot_that_may_not_post_is_rejected_with_what_to_do(
    telegram: Telegram,
    server: FakeTelegram,
    token: str,
    kind: Any,
    username: str,
    status: Any,
    rights: dict[str, bool],
    told: str,
) -> None:
    chat = server.add_chat(kind, "Chat", username=username)
    server.set_member(chat, token, status, **rights)

    with pytest.raises(CredentialsRejected) as caught:
        telegram.connect({"bot_token": token, "chat_id": str(chat)})

    assert told in caught.value.message
    assert caught.value.suggested_action.startswith("Add the bot to the chat and let it post there")


def test_a_group_where_only_administrators_write_is_rejected_for_a_mere_member(
    telegram: Telegram, server: FakeTelegram, token: str
) -> None:
    group = server.add_chat("supergroup", "Announcements")
    server.set_member(group, token, "member")
    server.silence_members(group)

    with pytest.raises(CredentialsRejected):
        telegram.connect({"bot_token": token, "chat_id": str(group)})

    server.set_member(group, token, "administrator")
    telegram.connect({"bot_token": token, "chat_id": str(group)})


@pytest.mark.parametrize("wrong", ["123:abc_DEF-1", "not-a-token"])
def test_a_wrong_token_is_rejected_in_our_own_words(
    telegram: Telegram, server: FakeTelegram, channel: int, wrong: str
) -> None:
    with pytest.raises(CredentialsRejected) as caught:
        telegram.connect({"bot_token": wrong, "chat_id": "@the_news"})

    assert caught.value.message == "Telegram does not accept the bot's token."
    assert "@BotFather" in caught.value.suggested_action
    assert asked(server) == ["getMe"]


def test_a_chat_that_is_not_there_is_rejected_with_telegrams_words(telegram: Telegram, token: str) -> None:
    with pytest.raises(CredentialsRejected) as caught:
        telegram.connect({"bot_token": token, "chat_id": "@nobody"})

    assert caught.value.message == "Telegram refuses the bot: Bad Request: chat not found"


def test_a_group_that_became_a_supergroup_is_connected_as_that(
    telegram: Telegram, server: FakeTelegram, token: str
) -> None:
    group = server.add_chat("group", "Friends")
    server.set_member(group, token, "member")
    supergroup = server.upgrade(group)

    connection = telegram.connect({"bot_token": token, "chat_id": str(group)})

    assert connection.grant.external_id == str(supergroup)
    assert connection.grant.tokens == {"chat_id": supergroup, "chat_type": "supergroup", "chat_username": ""}


def test_hostile_names_are_cut_down_to_harmless_text(
    telegram: Telegram, server: FakeTelegram, token: str, channel: int
) -> None:
    title = "A\x00\n\u202e" + "x" * 5000
    shown = {"id": channel, "type": "channel", "title": title, "username": "a/../b?c"}
    server.refuse_next("getChat", Answer.of_json({"ok": True, "result": shown}))

    identity = telegram.connect({"bot_token": token, "chat_id": "@the_news"}).identity

    assert identity.handle == identity.display_name == "A   " + "x" * 296
    assert identity.profile_url == ""


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        ("getMe", Answer(200, b"<html>Welcome</html>")),
        ("getMe", Answer(404, b"<html>Not found</html>")),
        ("getMe", Answer(302, b"", {"Location": "http://127.0.0.1:1/"})),
        ("getMe", Answer.of_json({"ok": False, "error_code": 502, "description": "Bad Gateway"}, 502)),
        ("getMe", Answer.of_json({"ok": True, "result": []})),
        ("getChat", Answer.of_json({"ok": True, "result": {"id": "1"}})),
        ("getChat", Answer.of_json({"ok": True, "result": "x" * 300_000})),
        ("getChatMember", Answer.of_json({"ok": True})),
    ],
)
def test_what_is_no_answer_of_the_bot_api_is_a_passing_fault(
    telegram: Telegram, server: FakeTelegram, token: str, channel: int, method: str, answer: Answer
) -> None:
    server.refuse_next(method, answer)

    with pytest.raises(Transient):
        telegram.connect({"bot_token": token, "chat_id": "@the_news"})


def test_a_server_that_cannot_be_reached_is_a_passing_fault(telegram: Telegram, settings: Settings) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        settings.PLATFORM_SETTINGS = {"TELEGRAM_API_BASE": f"http://127.0.0.1:{unused.getsockname()[1]}/"}

        with pytest.raises(Transient):
            telegram.connect({"bot_token": "123:abc", "chat_id": "@the_news"})


def test_the_rate_limit_says_when_to_come_again(telegram: Telegram, server: FakeTelegram, token: str) -> None:
    server.rate_limit_next(1, retry_after=42)

    with pytest.raises(RateLimited) as caught:
        telegram.connect({"bot_token": token, "chat_id": "@the_news"})

    assert caught.value.retry_after == 42.0


def test_the_chats_new_name_is_seen_and_its_identity_stays(
    telegram: Telegram, server: FakeTelegram, grant: Grant, channel: int
) -> None:
    shown = {"id": channel, "type": "channel", "title": "Old News", "username": "old_news"}
    server.refuse_next("getChat", Answer.of_json({"ok": True, "result": shown}))

    identity = telegram.identify(grant)

    assert (identity.external_id, identity.handle, identity.display_name) == (str(channel), "@old_news", "Old News")
    assert [request.json().get("chat_id") for request in server.requests[-2:]] == [channel, channel]


def test_an_account_stays_the_same_when_its_group_becomes_a_supergroup(
    telegram: Telegram, server: FakeTelegram, token: str
) -> None:
    group = server.add_chat("group", "Friends")
    server.set_member(group, token, "member")
    grant = telegram.connect({"bot_token": token, "chat_id": str(group)}).grant
    server.upgrade(group)

    with pytest.raises(TokenExpired):
        telegram.identify(grant)
    assert telegram.identify(telegram.refresh(grant)).external_id == str(group)


def test_a_bot_that_lost_its_right_or_its_token_is_disconnected(
    telegram: Telegram, server: FakeTelegram, grant: Grant, token: str, channel: int
) -> None:
    server.set_member(channel, token, "administrator", can_post_messages=False)
    with pytest.raises(AccountDisconnected):
        telegram.identify(grant)

    server.revoke_token(token)
    with pytest.raises(AccountDisconnected) as caught:
        telegram.identify(grant)
    assert caught.value.message == "Telegram does not accept the bot's token."


def test_there_is_nothing_to_renew_and_nothing_to_revoke(
    telegram: Telegram, server: FakeTelegram, grant: Grant
) -> None:
    with pytest.raises(AccountDisconnected):
        telegram.refresh(grant)
    assert asked(server) == LOOKS * 2  # it looks only whether the chat has moved
    telegram.revoke(grant)

    assert telegram.identify(grant)


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
def test_the_credentials_schema_takes_what_is_needed_and_nothing_else(given: dict[str, Any], valid: bool) -> None:
    jsonschema.Draft202012Validator.check_schema(Telegram.credentials_schema)

    assert jsonschema.Draft202012Validator(Telegram.credentials_schema).is_valid(given) is valid
