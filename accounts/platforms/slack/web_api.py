"""Calls of Slack's Web API: a method and arguments in, its answer out, and what Slack's errors mean.

Slack answers 200 with `{"ok": false, "error": code}` to what it refuses, and 429 with Retry-After to haste. What reaches a
person of an answer is the code. Source: docs.slack.dev, the Web API and its methods' errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from accounts.platforms.errors import (
    AccountDisconnected,
    ContentRejected,
    PlatformError,
    RateLimited,
    Transient,
    unmapped,
)
from config.outbound import NoAnswer, OutboundError, Response, request

TIMEOUT_SECONDS = 20.0
MAX_ANSWER_BYTES = 4_000_000  # a page of channels, each with its topic and purpose
MAX_LINE_LENGTH = 300
MAX_RETRY_AFTER = 86_400.0

# Some of the work may be done all the same.
MAYBE_DONE = frozenset({"internal_error", "fatal_error", "file_update_failed"})
BUSY = frozenset({"service_unavailable", "team_added_to_org", "org_login_required", "request_timeout", "accesslimited"})
LIMITS = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
ACCESS_ENDED = frozenset(
    {
        "access_denied",
        "account_inactive",
        "ekm_access_denied",
        "enterprise_is_restricted",
        "invalid_auth",
        "missing_scope",
        "no_permission",
        "not_allowed_token_type",
        "not_authed",
        "team_access_not_granted",
        "token_expired",
        "token_revoked",
    }
)
CHANNEL_CLOSED = frozenset(
    {
        "channel_not_found",
        "invalid_channel",
        "is_archived",
        "not_in_channel",
        "posting_to_channel_denied",
        "restricted_action",
        "restricted_action_read_only_channel",
    }
)
OF_CONTENT = re.compile(
    r"msg_too_long|no_text|cannot_reply_to_message|message_not_found|thread_not_found|restricted_action\w*"
    r"|invalid_(?:arg\w*|blocks\w*|thread_ts)|slack_connect_\w+_blocked|missing_argument|alt_txt_too_large"
    r"|file_upload_size_restricted|file_uploads_disabled|file_type_not_allowed|storage_limit_reached"
    r"|invalid_form_data|invalid_post_type"
)
OPEN_CHANNEL = (
    "See in Slack that the channel is there, is not archived and has the app among its members; then check the account, "
    "or reconnect it, and retry the post."
)

_CODE = re.compile(r"[a-z0-9_.:-]{1,80}")


class SlackError(Exception):
    """Slack refused: HTTP status, its error code (empty: the answer was none of Slack's), `retry_after` in seconds."""

    def __init__(self, response: Response, code: str) -> None:
        super().__init__(f"{response.status} {code}".rstrip())
        self.status = response.status
        self.code = code
        self.retry_after = retry_after(response)

    @property
    def maybe_done(self) -> bool:
        """Whether what was asked may have been done."""
        return self.status >= 500 or self.code in MAYBE_DONE


class UnreadableAnswer(NoAnswer):
    """Slack answered success, but not with what the method answers."""


@dataclass(frozen=True)
class WebApi:
    """The Web API at `address`, without a trailing slash, spoken to with an app's token."""

    address: str
    token: str = field(default="", repr=False)

    def get(self, method: str, **arguments: str) -> dict[str, Any]:
        """Ask something, which changes nothing. Raises SlackError, NotSent, NoAnswer."""
        return self._call("GET", method, params=arguments)

    def post(self, method: str, *, headers: Mapping[str, str] | None = None, **body: Any) -> dict[str, Any]:
        """Have something done; `body` is the `json` or the `data` of a request. Raises as `get`."""
        return self._call("POST", method, headers, **body)

    def _call(self, verb: str, method: str, headers: Mapping[str, str] | None = None, **what: Any) -> dict[str, Any]:
        bearer = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        response = request(
            verb,
            f"{self.address}/{method}",
            headers={**bearer, **(headers or {})},
            timeout=TIMEOUT_SECONDS,
            max_bytes=MAX_ANSWER_BYTES,
            **what,
        )
        return _content(response)


@contextmanager
def platform_errors() -> Iterator[None]:
    """Turn the faults of calls into platform errors, for calls that do no harm when they are repeated."""
    try:
        yield
    except (OutboundError, SlackError) as error:
        raise platform_error(error) from error


def platform_error(error: OutboundError | SlackError) -> PlatformError:
    """What this fault of a call means, where nothing came of the call."""
    if isinstance(error, OutboundError):
        return Transient("Slack could not be reached.")
    told = error.code or "no reason given"
    if error.status == 429 or error.code in LIMITS:
        return RateLimited("Slack's rate limit is reached.", retry_after=error.retry_after)
    if error.code in ACCESS_ENDED:
        return AccountDisconnected(f"Slack refuses the app's access: {told}")
    if error.code in CHANNEL_CLOSED:
        return AccountDisconnected(
            f"Slack does not let the app post to the channel: {told}", suggested_action=OPEN_CHANNEL
        )
    if OF_CONTENT.fullmatch(error.code):
        return ContentRejected(f"Slack does not take this message: {told}")
    if error.code and error.code not in BUSY | MAYBE_DONE:
        unmapped("slack", error.code)
    return Transient(f"Slack answered {error.status}: {told}", retry_after=error.retry_after)


def line(value: Any) -> str:
    """Text from Slack as one bounded line; empty for anything but text."""
    if not isinstance(value, str):
        return ""
    return "".join(char if char.isprintable() else " " for char in value[:MAX_LINE_LENGTH]).strip()


def retry_after(response: Response) -> float | None:
    """Seconds to wait, by Retry-After."""
    wait = response.headers.get("Retry-After", "")
    return min(float(wait), MAX_RETRY_AFTER) if wait.isascii() and wait.isdecimal() and len(wait) <= 15 else None


def _content(response: Response) -> dict[str, Any]:
    try:
        content = response.json()
    except ValueError:
        content = None
    told = content if isinstance(content, dict) else {}
    if 200 <= response.status < 300:
        if told.get("ok") is True:
            return told
        if told.get("ok") is not False:
            raise UnreadableAnswer("The answer is none of the Web API.")
    code = told.get("error")
    raise SlackError(response, code if isinstance(code, str) and _CODE.fullmatch(code) else "")
