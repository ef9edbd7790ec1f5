from __future__ import annotations

import json
import socket
from typing import Any

import pytest
from pytest_django import Settings

from accounts.platforms.errors import (
    AccountDisconnected,
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    RateLimited,
    Transient,
)
from accounts.platforms.telegram.adapter import Telegram
from accounts.platforms.types import Grant, MediaFile
from tests.accounts.platforms.telegram.steps import picture, publish
from tests.fakes.http_server import Answer
from tests.fakes.telegram import FakeTelegram, refusal_answer

SENDS: list[tuple[str, list[MediaFile]]] = [
    ("sendMessage", []),
    ("sendPhoto", [picture()]),
    ("sendMediaGroup", [picture(), picture()]),
]
every_send = pytest.mark.parametrize(("method", "media"), SENDS, ids=[method for method, _ in SENDS])


@every_send
@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("status", [None, 500, 502])
def test_a_message_that_may_be_out_is_an_open_outcome_and_is_not_sent_again(
    telegram: Telegram,
    server: FakeTelegram,
    grant: Grant,
    channel: int,
    method: str,
    media: list[MediaFile],
    taken: bool,
    status: int | None,
) -> None:
    if status is None:
        server.drop_next(method, after_accept=taken)
    else:
        server.fail_next(method, status=status, after_accept=taken)

    with pytest.raises(OutcomeUnknown):
        publish(telegram, grant, "Hello", *media)

    assert server.requests_to(method) == 1
    assert len(server.messages(channel)) == (max(len(media), 1) if taken else 0)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, b""),
        Answer(200, b"<html>Welcome</html>"),
        Answer(200, b"[]"),
        Answer(302, b"", {"Location": "/elsewhere"}),
        Answer(403, b"<html>Blocked</html>"),
        Answer(404, b"<html>Not Found</html>"),
        Answer.of_json({"error": "no"}, 400),
        Answer.of_json({"ok": True}),
        Answer.of_json({"ok": "true", "result": {"message_id": 1}}),
        Answer.of_json({"ok": True, "result": {}}),
        Answer.of_json({"ok": True, "result": []}),
        Answer.of_json({"ok": True, "result": True}),
        Answer.of_json({"ok": True, "result": {"message_id": "1"}}),
        Answer.of_json({"ok": True, "result": {"message_id": True}}),
        Answer.of_json({"ok": True, "result": {"message_id": 1}}, 502),
        Answer.of_json({"ok": False, "description": "?"}, 200),
        Answer.of_json({"ok": True, "result": {"message_id": 1}, "padding": "x" * 300_000}),
    ],
)
def test_an_answer_that_says_neither_yes_nor_no_is_an_open_outcome(
    telegram: Telegram, server: FakeTelegram, grant: Grant, answer: Answer
) -> None:
    server.refuse_next("sendMessage", answer)

    with pytest.raises(OutcomeUnknown):
        publish(telegram, grant, "Hello")

    assert server.requests_to("sendMessage") == 1


@pytest.mark.parametrize(
    ("status", "description", "fault"),
    [
        (401, "Unauthorized", AccountDisconnected),
        (404, "Not Found", AccountDisconnected),
        (403, "Forbidden: bot was kicked from the channel chat", AccountDisconnected),
        (403, "Forbidden: bot was blocked by the user", AccountDisconnected),
        (400, "Bad Request: chat not found", AccountDisconnected),
        (400, "Bad Request: not enough rights to send photos to the chat", AccountDisconnected),
        (400, "Bad Request: have no rights to send a message", AccountDisconnected),
        (400, "Bad Request: need administrator rights in the channel chat", AccountDisconnected),
        (400, "Bad Request: CHAT_WRITE_FORBIDDEN", AccountDisconnected),
        (400, "Bad Request: CHAT_SEND_PHOTOS_FORBIDDEN", AccountDisconnected),
        (400, "Bad Request: CHAT_RESTRICTED", AccountDisconnected),
        (400, "Bad Request: Logged out", AccountDisconnected),
        (400, "Bad Request: message is too long", ContentRejected),
        (400, "Bad Request: TOPIC_CLOSED", ContentRejected),
        (400, "Bad Request: group send failed", ContentRejected),
        (400, "", ContentRejected),
        (413, "Request Entity Too Large", ContentRejected),
        (429, "Too Many Requests: retry after 5", RateLimited),
        (409, "Conflict", Transient),
        (421, "Misdirected Request: unallowed token specified", Transient),
    ],
)
def test_a_refusal_is_told_by_what_helps(
    telegram: Telegram,
    server: FakeTelegram,
    grant: Grant,
    channel: int,
    status: int,
    description: str,
    fault: type[PlatformError],
) -> None:
    server.refuse_next("sendMessage", refusal_answer(status, description))

    with pytest.raises(PlatformError) as caught:
        publish(telegram, grant, "Hello")

    assert type(caught.value) is fault
    assert (server.requests_to("sendMessage"), server.messages(channel)) == (1, ())


def test_a_part_of_an_album_that_failed_leaves_open_what_became_of_the_others(
    telegram: Telegram, server: FakeTelegram, grant: Grant, channel: int
) -> None:
    told = 'Bad Request: failed to send message #2 with the error message "Too Many Requests: retry after 8"'
    server.refuse_next("sendMediaGroup", refusal_answer(400, told), after_accept=True)

    with pytest.raises(OutcomeUnknown) as caught:
        publish(telegram, grant, "Album", picture(), picture())

    assert caught.value.message == f"Telegram may have sent a part of the album: {told}"
    assert len(server.messages(channel)) == 2


def test_a_body_too_large_is_refused_by_whatever_stands_before_the_server(
    telegram: Telegram, server: FakeTelegram, grant: Grant
) -> None:
    server.refuse_next("sendPhoto", Answer(413, b"<html>413 Request Entity Too Large</html>"))

    with pytest.raises(ContentRejected):
        publish(telegram, grant, "", picture())


@pytest.mark.parametrize(
    ("parameters", "seconds"),
    [
        ({"retry_after": 30}, 30.0),
        ({"retry_after": 0}, 0.0),
        ({"retry_after": 99_999_999}, 86_400.0),
        ({"retry_after": -1}, 0.0),
        ({"retry_after": "30"}, None),
        ({"retry_after": True}, None),
        ({}, None),
        ([30], None),
    ],
)
def test_the_rate_limit_says_when_to_come_again(
    telegram: Telegram, server: FakeTelegram, grant: Grant, parameters: Any, seconds: float | None
) -> None:
    body = {"ok": False, "error_code": 429, "description": "Too Many Requests", "parameters": parameters}
    server.refuse_next("sendMessage", Answer.of_json(body, 429))

    with pytest.raises(RateLimited) as caught:
        publish(telegram, grant, "Hello")

    assert caught.value.retry_after == seconds


@pytest.mark.parametrize("message", ["x" * 100_000, "a\x00b\nc\ud800", {"deep": []}, None])
def test_a_message_of_the_platform_is_one_bounded_line(
    telegram: Telegram, server: FakeTelegram, grant: Grant, message: Any
) -> None:
    server.refuse_next("sendMessage", Answer(400, json.dumps({"ok": False, "description": message}).encode()))

    with pytest.raises(ContentRejected) as caught:
        publish(telegram, grant, "Hello")

    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 400


@pytest.mark.parametrize("media", [[], [picture()]])
def test_a_server_that_cannot_be_reached_took_nothing(
    telegram: Telegram, grant: Grant, settings: Settings, media: list[MediaFile]
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        settings.PLATFORM_SETTINGS = {"TELEGRAM_API_BASE": f"http://127.0.0.1:{unused.getsockname()[1]}"}

        with pytest.raises(Transient):
            publish(telegram, grant, "Hello", *media)


def test_a_bot_without_its_rights_or_its_token_is_disconnected(
    telegram: Telegram, server: FakeTelegram, grant: Grant, token: str, channel: int
) -> None:
    server.set_member(channel, token, "administrator", can_post_messages=False)
    with pytest.raises(AccountDisconnected) as caught:
        publish(telegram, grant, "Hello")
    assert caught.value.message == (
        "Telegram refuses the bot: Bad Request: need administrator rights in the channel chat"
    )

    server.revoke_token(token)
    with pytest.raises(AccountDisconnected) as caught:
        publish(telegram, grant, "Hello")
    assert caught.value.message == "Telegram does not accept the bot's token."
    assert server.messages(channel) == ()
