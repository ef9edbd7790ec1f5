from __future__ import annotations

import pytest

from accounts.platforms.errors import (
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    RateLimited,
    ReauthRequired,
    Transient,
)
from accounts.platforms.telegram.adapter import Telegram
from accounts.platforms.types import Grant
from tests.accounts.platforms.telegram.steps import picture, publish
from tests.fakes.http_server import Answer
from tests.fakes.telegram import FakeTelegram, refusal_answer


@pytest.mark.parametrize(
    "answer",
    [
        refusal_answer(500, "Internal Server Error"),
        Answer.of_json({"error": "no"}, 400),
        Answer.of_json({"ok": True}),
        Answer.of_json({"ok": "true", "result": {"message_id": 1}}),
        Answer.of_json({"ok": True, "result": []}),
        Answer.of_json({"ok": True, "result": {"message_id": True}}),
        Answer.of_json({"ok": True, "result": {"message_id": 1}}, 502),
        Answer.of_json({"ok": False, "description": "?"}, 200),
    ],
)
def test_an_unclear_answer_leaves_the_outcome_unknown(
    telegram: Telegram, server: FakeTelegram, grant: Grant, answer: Answer
) -> None:
    server.refuse_next("sendMessage", answer)

    with pytest.raises(OutcomeUnknown):
        publish(telegram, grant, "Hello")

    assert server.requests_to("sendMessage") == 1


@pytest.mark.parametrize(("method", "files"), [("sendPhoto", 1), ("sendMediaGroup", 2)])
def test_files_whose_answer_is_lost_are_sent_once(
    telegram: Telegram, server: FakeTelegram, grant: Grant, channel: int, method: str, files: int
) -> None:
    server.drop_next(method)

    with pytest.raises(OutcomeUnknown):
        publish(telegram, grant, "Hello", *[picture()] * files)

    assert (server.requests_to(method), len(server.messages(channel))) == (1, files)


@pytest.mark.parametrize(
    ("status", "description", "error"),
    [
        (401, "Unauthorized", ReauthRequired),
        (404, "Not Found", ReauthRequired),
        (403, "Forbidden: bot was kicked from the channel chat", ReauthRequired),
        (403, "Forbidden: bot was blocked by the user", ReauthRequired),
        (400, "Bad Request: chat not found", ReauthRequired),
        (400, "Bad Request: not enough rights to send photos to the chat", ReauthRequired),
        (400, "Bad Request: have no rights to send a message", ReauthRequired),
        (400, "Bad Request: need administrator rights in the channel chat", ReauthRequired),
        (400, "Bad Request: CHAT_WRITE_FORBIDDEN", ReauthRequired),
        (400, "Bad Request: CHAT_SEND_PHOTOS_FORBIDDEN", ReauthRequired),
        (400, "Bad Request: CHAT_RESTRICTED", ReauthRequired),
        (400, "Bad Request: Logged out", ReauthRequired),
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
def test_each_refusal_raises_the_matching_error(
    telegram: Telegram, server: FakeTelegram, grant: Grant, status: int, description: str, error: type[PlatformError]
) -> None:
    server.refuse_next("sendMessage", refusal_answer(status, description))

    with pytest.raises(PlatformError) as caught:
        publish(telegram, grant, "Hello")

    assert type(caught.value) is error


@pytest.mark.parametrize("status", [400, 403, 429])
def test_an_album_of_which_a_part_failed_leaves_the_outcome_unknown(
    telegram: Telegram, server: FakeTelegram, grant: Grant, channel: int, status: int
) -> None:
    reason = 'Bad Request: failed to send message #2 with the error message "Too Many Requests: retry after 8"'
    server.refuse_next("sendMediaGroup", refusal_answer(status, reason), after_accept=True)

    with pytest.raises(OutcomeUnknown) as caught:
        publish(telegram, grant, "Album", picture(), picture())

    assert caught.value.message == f"Telegram may have sent a part of the album: {reason}"
    assert len(server.messages(channel)) == 2
