"""Telegram polls, whose question is the text of the post."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.platforms.errors import ContentRejected
from accounts.platforms.telegram.adapter import Telegram
from accounts.platforms.types import Grant
from tests.accounts.platforms.telegram.steps import picture, publish, start
from tests.fakes.telegram import FakeTelegram, refusal_answer

ASKED = {"choices": ["The bench", "The lathe"]}


def test_a_poll_is_one_message(telegram: Telegram, server: FakeTelegram, grant: Grant, channel: int) -> None:
    published = publish(telegram, grant, "What next?", poll={**ASKED, "duration_minutes": 90, "multiple": True})

    (message,) = server.messages(channel)
    assert (message.kind, message.text) == ("poll", "What next?")
    assert message.item == {
        "question": "What next?",
        "options": ["The bench", "The lathe"],
        "anonymous": True,
        "multiple": True,
        "open_period": 5400,
    }
    assert published.permalink == f"https://t.me/the_news/{message.message_id}"
    assert [server.call_of(request) for request in server.requests].count("sendPoll") == 1


def test_a_poll_may_have_no_end_and_has_the_options_of_messages(
    telegram: Telegram, server: FakeTelegram, grant: Grant, channel: int
) -> None:
    first = publish(telegram, grant, "Hello")
    options = {"disable_notification": True, "protect_content": True, "link_preview": False}
    publish(telegram, grant, "What next?", poll=ASKED, reply_to_message_id=int(first.external_id), **options)

    message = server.messages(channel)[1]
    assert message.item["open_period"] is None
    assert message.options["reply_to"] == int(first.external_id)
    assert (message.options["silent"], message.options["protected"]) == (True, True)


def test_the_question_may_be_marked_up(telegram: Telegram, server: FakeTelegram, grant: Grant, channel: int) -> None:
    publish(telegram, grant, "Fish &amp; chips?", poll=ASKED, parse_mode="HTML")

    assert server.messages(channel)[0].text == "Fish & chips?"


def test_votes_are_public_if_the_chat_allows_it(
    telegram: Telegram, server: FakeTelegram, token: str, grant: Grant, channel: int
) -> None:
    group = server.add_chat("supergroup", "The Crew", username="the_crew")
    server.set_member(group, token, "administrator")
    in_group = telegram.connect_with_credentials({"bot_token": token, "chat_id": "@the_crew"}).grant
    publish(telegram, in_group, "What next?", poll={**ASKED, "anonymous": False})
    assert server.messages(group)[0].item["anonymous"] is False

    with pytest.raises(ContentRejected, match="non-anonymous polls can't be sent to channel chats"):
        publish(telegram, grant, "What next?", poll={**ASKED, "anonymous": False})
    assert server.messages(channel) == ()


def test_a_poll_cannot_have_media(telegram: Telegram, server: FakeTelegram, grant: Grant) -> None:
    with pytest.raises(ContentRejected, match="takes no media in a post with a poll"):
        start(telegram, grant, "What next?", picture(), poll=ASKED)


@pytest.mark.beyond_the_document("polls that validation would have stopped")
@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("a" * 301, {}),
        ("What next?", {"choices": ["a" * 101]}),
        ("What next?", {"choices": [" "]}),
        ("What next?", {"choices": [str(number) for number in range(13)]}),
        ("What next?", {"duration_minutes": 43_801}),
    ],
)
def test_a_poll_beyond_the_limits_is_rejected(
    telegram: Telegram, server: FakeTelegram, grant: Grant, channel: int, text: str, asked: dict[str, Any]
) -> None:
    with pytest.raises(ContentRejected):
        publish(telegram, grant, text, poll={**ASKED, **asked})

    assert server.messages(channel) == ()


def test_a_chat_that_does_not_allow_polls_stays_connected(telegram: Telegram, server: FakeTelegram, grant: Grant) -> None:
    words = "Bad Request: not enough rights to send polls to the chat"
    server.refuse_next("sendPoll", refusal_answer(400, words))

    with pytest.raises(ContentRejected, match="not enough rights to send polls"):
        publish(telegram, grant, "What next?", poll=ASKED)
