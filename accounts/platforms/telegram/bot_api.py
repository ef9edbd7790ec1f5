"""The Bot API: a method of a bot at `<base>/bot<token>/<method>`, fields in, a result out.

The token stands in the path, so no URL may reach a message or a log; what Telegram says is one bounded line of printable
characters from which the token is taken out. Refusals are `{"ok": false, "description", "parameters"?}` with a status.
Source: core.telegram.org/bots/api (Making requests, ResponseParameters) and its server, tdlib/telegram-bot-api.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from accounts.platforms.errors import AccountDisconnected, PlatformError, RateLimited, Transient, unmapped
from config.outbound import NoAnswer, OutboundError, Response, multipart, request

TIMEOUT_SECONDS = 20.0
UPLOAD_TIMEOUT_SECONDS = 180.0  # 50 MB at 300 kB a second
MAX_ANSWER_BYTES = 262_144
MAX_LINE_LENGTH = 300
MAX_RETRY_AFTER = 86_400.0

NEW_TOKEN = "Copy the bot's token from @BotFather once more and connect the account with it."  # noqa: S105 (advice)
LET_IN = "Add the bot to the chat and let it post there (to a channel as an administrator), then connect the account."


class BotApiError(Exception):
    """Telegram refused the call: the status, its description, seconds to wait, the id to which the chat has moved."""

    def __init__(
        self, status: int, description: str, *, retry_after: float | None = None, moved_to: int | None = None
    ) -> None:
        super().__init__(f"{status} {description}")
        self.status = status
        self.description = description or "no reason given"
        self.retry_after = retry_after
        self.moved_to = moved_to


class UnreadableAnswer(NoAnswer):
    """What came is no answer of the Bot API, or not what the method answers."""


@dataclass(frozen=True)
class BotApi:
    """The methods of one bot at the server `base`."""

    base: str
    token: str = field(repr=False)

    def call(self, method: str, fields: Mapping[str, Any] | None = None) -> Any:
        """Have a method carried out and return its result.

        Raises BotApiError, NotSent, NoAnswer, UnreadableAnswer; after the last two, or a status of 5xx, it may be done.
        """
        return self._result(
            request(
                "POST",
                self._url(method),
                json=dict(fields or {}),
                timeout=TIMEOUT_SECONDS,
                max_bytes=MAX_ANSWER_BYTES,
            )
        )

    def upload(self, method: str, fields: Mapping[str, Any], files: Mapping[str, tuple[str, BinaryIO, str]]) -> Any:
        """The same with files, as (name, opened file, mime type) by the part's name. Raises as `call`."""
        texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in fields.items()}
        body = multipart({**texts, **files})
        return self._result(
            request(
                "POST",
                self._url(method),
                data=body,
                headers={"Content-Type": body.content_type},
                timeout=UPLOAD_TIMEOUT_SECONDS,
                max_bytes=MAX_ANSWER_BYTES,
            )
        )

    def _url(self, method: str) -> str:
        return f"{self.base}/bot{self.token}/{method}"

    def _result(self, response: Response) -> Any:
        answer = _json_object(response)
        if answer.get("ok") is True and response.status < 300:
            return answer.get("result")
        # A body that is too large is refused by the server in front, which may say so in HTML.
        if (answer.get("ok") is False and response.status >= 400) or response.status == 413:
            parameters = answer.get("parameters")
            told = parameters if isinstance(parameters, dict) else {}
            raise BotApiError(
                response.status,
                self._line(answer.get("description")),
                retry_after=_seconds(told.get("retry_after")),
                moved_to=_integer(told.get("migrate_to_chat_id")),
            )
        raise UnreadableAnswer("The answer is none of the Bot API.")

    def _line(self, value: Any) -> str:
        return line(value.replace(self.token, "<token>")) if isinstance(value, str) else ""


@contextmanager
def platform_errors() -> Iterator[None]:
    """Turn the faults of calls into platform errors, for calls that change nothing."""
    try:
        yield
    except (OutboundError, BotApiError) as error:
        raise platform_error(error) from error


def platform_error(error: OutboundError | BotApiError) -> PlatformError:
    """What this fault of a call means when the call is known to have done nothing."""
    if isinstance(error, OutboundError):
        return Transient("Telegram could not be reached.")
    if error.status == 429:
        return RateLimited("Telegram's rate limit is reached.", retry_after=error.retry_after)
    if error.status in (401, 404):
        return AccountDisconnected("Telegram does not accept the bot's token.", suggested_action=NEW_TOKEN)
    if error.status in (400, 403):
        return AccountDisconnected(f"Telegram refuses the bot: {error.description}", suggested_action=LET_IN)
    if error.status < 500:
        unmapped("telegram", error.status)
    return Transient(f"Telegram answered {error.status}: {error.description}", retry_after=error.retry_after)


def line(value: Any) -> str:
    """Text from Telegram as one bounded line; empty for anything but text."""
    if not isinstance(value, str):
        return ""
    return "".join(char if char.isprintable() else " " for char in value[:MAX_LINE_LENGTH]).strip()


def _json_object(response: Response) -> dict[str, Any]:
    try:
        content = response.json()
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _seconds(value: Any) -> float | None:
    count = _integer(value)
    return None if count is None else float(min(max(count, 0), MAX_RETRY_AFTER))
