"""Calls of Pinterest's API v5: a path in, the answer's object out, and what Pinterest's refusals mean.

Errors are `{"code": number, "message": text}`. What reaches a person of them is one bounded line of printable characters.
Sources: github.com/pinterest/api-description 5.23; the codes and words of refusals are those that clients report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from accounts.platforms.errors import (
    AccountDisconnected,
    ConnectionUnavailable,
    ContentRejected,
    PlatformError,
    RateLimited,
    TokenExpired,
    Transient,
    unmapped,
)
from config.outbound import NoAnswer, OutboundError, Response, request

TIMEOUT_SECONDS = 30.0
MAX_ANSWER_BYTES = 2_000_000  # a page of boards
MAX_LINE_LENGTH = 300
MAX_RETRY_AFTER = 86_400.0

REFUSALS = frozenset({400, 403, 404, 409, 413, 415, 422})  # of what was sent
OF_CONTENT = frozenset({1, 29, 40})  # what is wrong with a parameter, not permitted, or not there
_ACCOUNT_CLOSED = re.compile(r"\b(?:account|user)\b.{0,40}\b(?:suspended|deactivated|banned|locked)", re.IGNORECASE)
_ID = re.compile(r"[0-9]{1,32}")


class PinterestError(Exception):
    """Pinterest answered with an error: HTTP status, `code` (None: the answer was none of its API), `reason` in its words,
    and `retry_after` in seconds."""

    def __init__(self, response: Response) -> None:
        told = _json_object(response) or {}
        code = told.get("code")
        self.status = response.status
        self.code = code if type(code) is int else None
        self.reason = line(told.get("message")) or "no reason given"
        self.retry_after = _retry_after(response) if response.status == 429 else None
        super().__init__(f"{self.status} {self.code}: {self.reason}")

    @property
    def is_of_trial(self) -> bool:
        """Whether it is about the operator's app having no more than trial access."""
        return self.status in (401, 403) and "trial access" in self.reason.lower()


class UnreadableAnswer(NoAnswer):
    """Pinterest answered success, but not with what the call answers."""


@dataclass(frozen=True)
class Api:
    """The API at `address`, without a trailing slash, spoken to with an account's access token."""

    address: str
    token: str = field(repr=False)

    def get(self, path: str, params: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Ask something, which changes nothing. Raises PinterestError, NotSent, NoAnswer."""
        return self._call("GET", path, params=params)

    def post(
        self, path: str, *, json: Any = None, data: Any = None, timeout: float = TIMEOUT_SECONDS
    ) -> dict[str, Any]:
        """Have something done; `data` is JSON in bytes or in a file. Raises as `get`; after NoAnswer or a status of 5xx it
        may be done."""
        headers = {} if data is None else {"Content-Type": "application/json"}
        return self._call("POST", path, headers, timeout, json=json, data=data)

    def _call(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT_SECONDS,
        **what: Any,
    ) -> dict[str, Any]:
        every = {"Authorization": f"Bearer {self.token}", "Accept": "application/json", **(headers or {})}
        url = f"{self.address}{path}"
        return answered(request(method, url, headers=every, timeout=timeout, max_bytes=MAX_ANSWER_BYTES, **what))


def answered(response: Response) -> dict[str, Any]:
    """The object that the API answers. Raises PinterestError, UnreadableAnswer."""
    if not 200 <= response.status < 300:
        raise PinterestError(response)
    told = _json_object(response)
    if told is None:
        raise UnreadableAnswer("The answer is not a JSON object.")
    return told


@contextmanager
def platform_errors() -> Iterator[None]:
    """Turn the faults of calls into platform errors, for calls that do no harm when they are repeated."""
    try:
        yield
    except (OutboundError, PinterestError) as error:
        raise platform_error(error) from error


@contextmanager
def content_errors(what: str) -> Iterator[None]:
    """As `platform_errors`, for calls that Pinterest may refuse for what they carry."""
    try:
        yield
    except OutboundError as error:
        raise platform_error(error) from error
    except PinterestError as error:
        raise refusal(error, what) from error


def platform_error(error: OutboundError | PinterestError) -> PlatformError:
    """What this fault of a call means where nothing came of the call."""
    if isinstance(error, OutboundError):
        return Transient("Pinterest could not be reached.")
    return _known(error) or _unknown(error)


def refusal(error: PinterestError, what: str) -> PlatformError:
    """As `platform_error`, where Pinterest may have refused `what` was sent."""
    known = _known(error)
    if known is not None or error.status not in REFUSALS or (error.code is None and error.status != 413):
        return known or _unknown(error)
    if error.code not in OF_CONTENT and error.code is not None:
        unmapped("pinterest", f"{error.status} {error.code}")
    return ContentRejected(f"Pinterest does not take {what}: {error.reason}")


def _known(error: PinterestError) -> PlatformError | None:
    """What an error means whatever the call was."""
    if error.is_of_trial:
        return ConnectionUnavailable(
            f"Pinterest lets this service do no more than try its API: {error.reason}",
            suggested_action="Ask the operator of the service to get standard access for its app at Pinterest.",
        )
    if error.status == 429:
        return RateLimited("Pinterest's rate limit is reached.", retry_after=error.retry_after)
    if error.status == 401:
        return TokenExpired("Pinterest does not accept the access token any more.")
    if error.status == 403 and _ACCOUNT_CLOSED.search(error.reason):
        return AccountDisconnected(f"Pinterest refuses the account: {error.reason}")
    return Transient(f"Pinterest answered {error.status}: {error.reason}") if error.status >= 500 else None


def _unknown(error: PinterestError) -> PlatformError:
    unmapped("pinterest", f"{error.status} {error.code}")
    return Transient(f"Pinterest answered {error.status}: {error.reason}")


def id_of(entity: Mapping[str, Any], name: str = "id") -> str:
    """The id of a pin, a board, an account or an upload. Raises UnreadableAnswer."""
    value = entity.get(name)
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise UnreadableAnswer("What the answer is about has no id.")
    return value


def line(value: Any) -> str:
    """Text from Pinterest as one bounded line; empty for anything but text."""
    if not isinstance(value, str):
        return ""
    return "".join(char if char.isprintable() else " " for char in value[:MAX_LINE_LENGTH]).strip()


def _json_object(response: Response) -> dict[str, Any] | None:
    try:
        content = response.json()
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def _retry_after(response: Response) -> float | None:
    """Seconds until the limit begins anew: as Retry-After says, or else as x-ratelimit-reset does, which is a time in
    seconds or, as a large number, a moment since 1970."""
    for name in ("Retry-After", "x-ratelimit-reset"):
        told = response.headers.get(name, "")
        if told.isascii() and told.isdecimal() and len(told) <= 12:
            seconds = float(told)
            if seconds > 1_000_000_000:
                seconds -= timezone.now().timestamp()
            return min(max(seconds, 0.0), MAX_RETRY_AFTER)
    return None
