"""Discord polls, whose question is the text of the post."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.platforms.discord.adapter import Discord
from accounts.platforms.errors import ContentRejected
from accounts.platforms.types import Grant
from tests.accounts.platforms.discord.steps import send
from tests.accounts.platforms.media_files import media_file
from tests.fakes.discord import EXECUTE, FakeDiscord, FakeWebhook
from tests.fakes.http_server import Answer

ASKED = {"choices": ["The bench", "The lathe"], "duration_minutes": 120}


@pytest.mark.parametrize("multiple", [True, False])
def test_a_poll_is_one_message(
    discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant, multiple: bool
) -> None:
    send(discord, grant, "What next?", poll={**ASKED, "multiple": multiple}, username="Town crier")

    (message,) = server.messages(webhook)
    poll = message["poll"]
    assert (message["content"], message["author"]["username"]) == ("", "Town crier")
    assert poll["question"] == {"text": "What next?"}
    assert [answer["poll_media"]["text"] for answer in poll["answers"]] == ["The bench", "The lathe"]
    assert poll["allow_multiselect"] is multiple
    assert server.requests[-1].json()["poll"]["duration"] == 2


def test_a_poll_may_have_files(discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant) -> None:
    send(discord, grant, "What next?", media_file(b"PNG", "image/png"), poll=ASKED)

    (message,) = server.messages(webhook)
    assert [file["data"] for file in message["attachments"]] == [b"PNG"]
    assert message["poll"]["question"] == {"text": "What next?"}


@pytest.mark.beyond_the_document("polls that validation would have stopped")
@pytest.mark.parametrize(
    ("text", "asked", "words"),
    [
        ("a" * 301, {}, "poll.question.text: Must be 300 or fewer in length"),
        ("What next?", {"choices": ["a" * 56]}, "poll.answers.0.poll_media.text: Must be 55 or fewer"),
        ("What next?", {"choices": [str(number) for number in range(11)]}, "poll.answers: Must be between 1 and 10"),
        ("What next?", {"duration_minutes": 46_140}, "poll.duration"),
    ],
)
def test_a_poll_beyond_the_limits_is_rejected(
    discord: Discord, server: FakeDiscord, webhook: FakeWebhook, grant: Grant, text: str, asked: Any, words: str
) -> None:
    with pytest.raises(ContentRejected, match=words):
        send(discord, grant, text, poll={**ASKED, **asked})

    assert server.messages(webhook) == []


@pytest.mark.parametrize("status", [400, 403])
def test_a_channel_that_does_not_allow_polls_stays_connected(
    discord: Discord, server: FakeDiscord, grant: Grant, status: int
) -> None:
    refusal = {"message": "Invalid channel type for poll creation", "code": 520002}
    server.refuse_next(EXECUTE, Answer.of_json(refusal, status))

    with pytest.raises(ContentRejected, match="Invalid channel type for poll creation"):
        send(discord, grant, "What next?", poll=ASKED)
