"""Hold the Telegram stand-in to the documentation of the Bot API and to the words of its own server."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from PIL import Image

from tests.fakes import telegram_markup
from tests.fakes.telegram import MAX_REQUEST_BYTES, FakeTelegram

PDF = ("a.pdf", b"%PDF-1.7", "application/pdf")


@pytest.fixture
def telegram() -> Iterator[FakeTelegram]:
    with FakeTelegram() as server:
        yield server


@pytest.fixture
def bot(telegram: FakeTelegram) -> str:
    return telegram.add_bot("news_bot")


@pytest.fixture
def channel(telegram: FakeTelegram, bot: str) -> int:
    chat = telegram.add_chat("channel", "News", username="news")
    telegram.set_member(chat, bot, "administrator", can_post_messages=True)
    return chat


def call(telegram: FakeTelegram, bot: str, method: str, **how: Any) -> tuple[int, dict[str, Any]]:
    """One call; `how` is that of requests."""
    answer = requests.Session().post(f"{telegram.url}/bot{bot}/{method}", timeout=5, **how)
    return answer.status_code, answer.json()


def refused(status: int, description: str, **parameters: int) -> tuple[int, dict[str, Any]]:
    body = {"ok": False, "error_code": status, "description": description}
    return status, {**body, "parameters": parameters} if parameters else body


def png(width: int, height: int) -> tuple[str, bytes, str]:
    drawn = io.BytesIO()
    Image.new("1", (width, height)).save(drawn, "PNG")
    return "a.png", drawn.getvalue(), "image/png"


def test_a_call_is_taken_in_every_form_and_case(telegram: FakeTelegram, bot: str, channel: int) -> None:
    fields = {"chat_id": "@NEWS", "text": "Hello", "disable_notification": "true"}
    forms: list[dict[str, Any]] = [
        {"params": fields},
        {"data": fields},
        {"json": {**fields, "disable_notification": True}},
        {"files": {name: (None, value) for name, value in fields.items()}},
    ]

    answers = [call(telegram, bot, "SENDMESSAGE", **form) for form in forms]

    assert [body["result"]["message_id"] for _, body in answers] == [1, 2, 3, 4]
    messages = telegram.messages(channel)
    assert {(message.text, message.options["silent"]) for message in messages} == {("Hello", True)}
    assert telegram.requests_to("sendMessage") == 4


def test_tokens_and_methods_are_known_or_refused(telegram: FakeTelegram, bot: str) -> None:
    assert call(telegram, "nonsense", "getMe") == refused(404, "Not Found")
    assert call(telegram, "123:abc", "getMe") == refused(401, "Unauthorized")
    assert call(telegram, bot, "logOut") == refused(404, "Not Found: method not found")
    assert call(telegram, bot, "getMe")[1]["result"]["is_bot"] is True

    telegram.revoke_token(bot)
    assert call(telegram, bot, "getMe") == refused(401, "Unauthorized")


@pytest.mark.parametrize(
    ("kind", "status", "rights", "expected"),
    [
        ("channel", "administrator", {}, (400, "Bad Request: need administrator rights in the channel chat")),
        ("channel", "left", {}, (403, "Forbidden: bot is not a member of the channel chat")),
        ("supergroup", "kicked", {}, (403, "Forbidden: bot was kicked from the supergroup chat")),
        ("group", "left", {}, (403, "Forbidden: bot is not a member of the group chat")),
        (
            "supergroup",
            "restricted",
            {"is_member": True},
            (400, "Bad Request: not enough rights to send text messages to the chat"),
        ),
    ],
)
def test_rights_decide_who_may_write(
    telegram: FakeTelegram, bot: str, kind: Any, status: Any, rights: dict[str, bool], expected: tuple[int, str]
) -> None:
    chat = telegram.add_chat(kind, "Chat")
    telegram.set_member(chat, bot, status, **rights)

    assert call(telegram, bot, "sendMessage", json={"chat_id": chat, "text": "Hello"}) == refused(*expected)
    assert telegram.messages(chat) == ()


def test_an_upgraded_group_names_its_successor(telegram: FakeTelegram, bot: str) -> None:
    group = telegram.add_chat("group", "Friends")
    telegram.set_member(group, bot, "member")
    successor = telegram.upgrade(group)
    moved = refused(400, "Bad Request: group chat was upgraded to a supergroup chat", migrate_to_chat_id=successor)

    assert call(telegram, bot, "sendMessage", json={"chat_id": group, "text": "Hello"}) == moved
    assert call(telegram, bot, "getChat", json={"chat_id": group})[0] == 200
    assert call(telegram, bot, "sendMessage", json={"chat_id": successor, "text": "Hello"})[0] == 200


@pytest.mark.parametrize(
    ("text", "mode", "shown", "entities"),
    [
        ("<b>*</b>", "", "<b>*</b>", []),
        ("😀 <b>b<i>i</i></b> &lt;&#65;", "HTML", "😀 bi <A", [("italic", 4, 1), ("bold", 3, 2)]),
        (r"*b* __u__ ||s|| `c*` 1\.", "MarkdownV2", "b u s c* 1.", [("bold", 0, 1), ("underline", 2, 1)]),
        (" \n padded\t", "", "padded", []),
    ],
)
def test_markup_is_read(text: str, mode: str, shown: str, entities: list[tuple[str, int, int]]) -> None:
    marked = telegram_markup.read(text, mode)

    found = [(entity["type"], entity["offset"], entity["length"]) for entity in marked.entities]
    assert (marked.text, found[: len(entities)]) == (shown, entities)


@pytest.mark.parametrize(
    ("text", "mode", "expected"),
    [
        ("é <p>", "HTML", 'unsupported start tag "p" at byte offset 3'),
        ("<b>x", "HTML", 'can\'t find end tag corresponding to start tag "b"'),
        ("x</b>", "HTML", "unexpected end tag at byte offset 1"),
        ("1 < 2", "HTML", "unclosed start tag at byte offset 2"),
        ("a_b", "MarkdownV2", "can't find end of Italic entity at byte offset 1"),
        ("a-b", "MarkdownV2", "character '-' is reserved and must be escaped with the preceding '\\'"),
    ],
)
def test_broken_markup_is_refused(
    telegram: FakeTelegram, bot: str, channel: int, text: str, mode: str, expected: str
) -> None:
    answer = call(telegram, bot, "sendMessage", json={"chat_id": channel, "text": text, "parse_mode": mode})

    assert answer == refused(400, f"Bad Request: can't parse entities: {expected}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "message text is empty"),
        ("<b></b>", "text must be non-empty"),
        ("<b>" + "😀" * 2048 + "</b>", ""),
        ("<b>" + "😀" * 2048 + "</b>!", "message is too long"),
    ],
)
def test_a_text_is_measured_without_its_markup(
    telegram: FakeTelegram, bot: str, channel: int, text: str, expected: str
) -> None:
    status, body = call(telegram, bot, "sendMessage", json={"chat_id": channel, "text": text, "parse_mode": "HTML"})

    assert (status, body) == refused(400, f"Bad Request: {expected}") if expected else status == 200


@pytest.mark.parametrize(
    ("method", "fields", "files", "expected"),
    [
        ("sendPhoto", {}, {}, "there is no photo in the request"),
        ("sendPhoto", {"photo": "attach://x"}, {"y": png(1, 1)}, "there is no photo in the request"),
        ("sendPhoto", {}, {"photo": png(5_000, 5_001)}, "PHOTO_INVALID_DIMENSIONS"),
        ("sendPhoto", {}, {"photo": ("a.png", b"no picture", "image/png")}, "IMAGE_PROCESS_FAILED"),
        ("sendDocument", {}, {"document": ("a.pdf", b"", "application/pdf")}, "file must be non-empty"),
        ("sendDocument", {"caption": "a" * 1025}, {"document": PDF}, "message caption is too long"),
        ("sendMediaGroup", {"media": []}, {}, "there are no messages to send"),
        ("sendMediaGroup", {"media": ["photo"] * 11}, {}, "too many messages to send as an album"),
        ("sendMediaGroup", {"media": ["photo", "document"]}, {}, "document can't be mixed with other media types"),
        (
            "sendMediaGroup",
            {"media": ["animation"]},
            {},
            "can't parse InputMedia: type \"animation\" can't be used in sendMediaGroup",
        ),
        ("sendMediaGroup", {"media": ["photo", "missing"]}, {}, "can't parse InputMedia: media not found"),
    ],
)
def test_files_and_albums_that_do_not_fit_are_refused(
    telegram: FakeTelegram, bot: str, channel: int, method: str, fields: dict[str, Any], files: dict[str, Any], expected: str
) -> None:
    if "media" in fields:
        items = [{"type": "photo" if kind == "missing" else kind, "media": f"attach://{kind}"} for kind in fields["media"]]
        fields, files = {"media": json.dumps(items)}, {"photo": png(1, 1), "document": PDF, "animation": PDF}

    answer = call(telegram, bot, method, data={"chat_id": channel, **fields}, files=files)

    assert answer == refused(400, f"Bad Request: {expected}")
    assert telegram.messages(channel) == ()


def test_an_album_is_stored_as_its_bytes_in_order(telegram: FakeTelegram, bot: str, channel: int) -> None:
    media = [{"type": "photo", "media": "attach://b", "caption": "Two"}, {"type": "photo", "media": "attach://a"}]
    files = {"a": png(1, 2), "b": png(2, 1)}

    status, body = call(telegram, bot, "sendMediaGroup", data={"chat_id": channel, "media": json.dumps(media)}, files=files)

    first, second = telegram.messages(channel)
    assert status == 200
    assert [message["message_id"] for message in body["result"]] == [first.message_id, second.message_id]
    assert first.file is not None
    assert second.file is not None
    assert (first.file.content, second.file.content) == (files["b"][1], files["a"][1])
    assert (first.text, second.text, first.media_group_id) == ("Two", "", second.media_group_id)


def test_the_limits_of_rate_and_size_stand_before_everything(telegram: FakeTelegram, bot: str, channel: int) -> None:
    telegram.rate_limit_next(1, retry_after=7)
    hello = {"chat_id": channel, "text": "Hello"}

    assert call(telegram, bot, "sendMessage", json=hello) == refused(429, "Too Many Requests: retry after 7", retry_after=7)
    large = ("a.pdf", bytes(MAX_REQUEST_BYTES), "application/pdf")
    answer = call(telegram, bot, "sendDocument", data={"chat_id": channel}, files={"document": large})
    assert answer == refused(413, "Request Entity Too Large")
    assert telegram.messages(channel) == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"question": ""}, "text must be non-empty"),
        ({"question": "a" * 301}, "poll question length must not exceed 300"),
        ({"options": []}, "poll must have at least one answer option"),
        ({"options": [{"text": "a"}] * 13}, "poll can't have more than 12 options"),
        ({"options": [{"text": "a" * 101}]}, "poll options length must not exceed 100"),
        ({"options": [{"words": "a"}]}, "can't parse InputPollOption: Can't find field \"text\""),
        ({"open_period": 4}, "POLL_CLOSE_DATE_INVALID"),
        ({"open_period": 2_628_001}, "POLL_CLOSE_DATE_INVALID"),
        ({"is_anonymous": False}, "non-anonymous polls can't be sent to channel chats"),
    ],
)
def test_polls_are_checked_as_the_api_does(
    telegram: FakeTelegram, bot: str, channel: int, changes: dict[str, Any], words: str
) -> None:
    fields = {"chat_id": channel, "question": "What next?", "options": [{"text": "Tea"}], "open_period": 5}
    status, taken = call(telegram, bot, "sendPoll", json=fields)
    assert status == 200
    assert taken["result"]["poll"]["options"] == [{"text": "Tea", "voter_count": 0}]

    assert call(telegram, bot, "sendPoll", json={**fields, **changes}) == refused(400, f"Bad Request: {words}")
    assert len(telegram.messages(channel)) == 1
