"""Polls of the Telegram stand-in: reading sendPoll, its checks, and the poll as it is shown.

Source: core.telegram.org/bots/api (sendPoll, InputPollOption, Poll); the order of the checks and their words are those of
its server, which counts characters after markup is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.fakes.telegram_chats import Chat, SentMessage, bad_request
from tests.fakes.telegram_requests import Arguments

MAX_QUESTION = 300
MAX_OPTIONS = 12
MAX_OPTION = 100
OPEN_PERIODS = range(5, 2_628_000 + 1)


def read_poll(given: Arguments) -> dict[str, Any]:
    """Read the poll of a Bot API call: {question, options, anonymous, multiple, open_period}. Raises Refusal."""
    options = given.value("options", "options") or []
    if not isinstance(options, list):
        raise bad_request("expected an Array of InputPollOption")
    return {
        "question": given.text("question").strip(),
        "options": [_option(each) for each in options],
        "anonymous": given.flag("is_anonymous") if given.text("is_anonymous") else True,
        "multiple": given.flag("allows_multiple_answers"),
        "open_period": given.number("open_period") or None,
    }


def check_poll(poll: Mapping[str, Any], question_length: int, chat: Chat) -> None:
    """Raise Refusal for a poll that Telegram does not accept in this chat."""
    options, period = poll["options"], poll["open_period"]
    if not poll["anonymous"] and chat.type == "channel":
        raise bad_request("non-anonymous polls can't be sent to channel chats")
    if not question_length:
        raise bad_request("text must be non-empty")
    if question_length > MAX_QUESTION:
        raise bad_request(f"poll question length must not exceed {MAX_QUESTION}")
    if not options:
        raise bad_request("poll must have at least one answer option")
    if len(options) > MAX_OPTIONS:
        raise bad_request(f"poll can't have more than {MAX_OPTIONS} options")
    if not all(options):
        raise bad_request("text must be non-empty")
    if any(len(option) > MAX_OPTION for option in options):
        raise bad_request(f"poll options length must not exceed {MAX_OPTION}")
    if period is not None and period not in OPEN_PERIODS:
        raise bad_request("POLL_CLOSE_DATE_INVALID")


def shown_poll(sent: SentMessage) -> dict[str, Any]:
    """The poll of a Telegram message as a Poll."""
    period = sent.item["open_period"]
    return {
        "id": str(sent.message_id),
        "question": sent.text,
        "options": [{"text": option, "voter_count": 0} for option in sent.item["options"]],
        "total_voter_count": 0,
        "is_closed": False,
        "is_anonymous": sent.item["anonymous"],
        "type": "regular",
        "allows_multiple_answers": sent.item["multiple"],
        **({"open_period": period} if period else {}),
    }


def _option(given: Any) -> str:
    """Read a poll option, which is an object; the Bot API's server also reads a plain string."""
    text = given.get("text") if isinstance(given, dict) else given
    if not isinstance(text, str):
        raise bad_request("can't parse InputPollOption: Can't find field \"text\"")
    return text.strip()
