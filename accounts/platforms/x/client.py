"""Calls of X's API v2: a path and parameters in, the `data` of the answer out, and what X's refusals mean.

Errors are problem documents `{type, title, detail, errors?}` or `{errors: [{code, message}]}`. What reaches a person of
them is one bounded line of printable characters. Source: docs.x.com, response codes and rate limits; the words of
refusals are those that clients report.
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
MAX_ANSWER_BYTES = 2_000_000  # a page of posts with their entities
MAX_LINE_LENGTH = 300
MAX_RETRY_AFTER = 86_400.0

REFUSALS = frozenset({400, 403, 404, 409, 413, 415, 422})  # of what was sent
OF_CONTENT = frozenset(
    {"", "invalid-request", "resource-not-found", "not-authorized-for-resource", "disallowed-resource"}
)
_ACCOUNT_CLOSED = re.compile(
    r"\baccount (?:is|has been) (?:temporarily )?(?:suspended|locked|deactivated)", re.IGNORECASE
)
_LIMITS = ("x-rate-limit", "x-user-limit-24hour", "x-app-limit-24hour")
_ID = re.compile(r"[0-9]{1,19}")


class XError(Exception):
    """X answered with an error: HTTP status, `problem` (the end of its type, such as usage-capped, or empty), `reason`
    in X's words, `fields` that it is about, and `retry_after` in seconds. `told` is false where the answer came from what
    stands before X's API."""

    def __init__(self, response: Response) -> None:
        told = _json_object(response)
        self.told = bool(told)
        self.status = response.status
        self.problem = _problem(told)
        self.reason = _reason(told) or "no reason given"
        self.fields = frozenset(_fields(told))
        self.retry_after = _retry_after(response) if response.status == 429 else None
        super().__init__(f"{self.status} {self.problem}: {self.reason}")

    @property
    def is_duplicate(self) -> bool:
        """Whether X refuses a text because the account has posted it already."""
        return self.status == 403 and "duplicate content" in self.reason.lower()

    @property
    def is_about_media(self) -> bool:
        """Whether X does not know, or no longer takes, the media that a post names."""
        return self.status == 400 and (
            "media.media_ids" in self.fields or "media ids are invalid" in self.reason.lower()
        )


class UnreadableAnswer(NoAnswer):
    """X answered success, but not with what the call answers."""


@dataclass(frozen=True)
class Api:
    """X's API at `address`, without a trailing slash, spoken to with an account's access token."""

    address: str
    token: str = field(repr=False)

    def get(self, path: str, params: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Ask something, which changes nothing; the whole answer. Raises XError, NotSent, NoAnswer."""
        return self._call("GET", path, TIMEOUT_SECONDS, params=params)

    def post(
        self,
        path: str,
        *,
        json: Any = None,
        data: Any = None,
        content_type: str = "",
        timeout: float = TIMEOUT_SECONDS,
    ) -> dict[str, Any]:
        """Have something done. Raises as `get`; after NoAnswer or a status of 5xx it may be done."""
        headers = {"Content-Type": content_type} if content_type else {}
        return self._call("POST", path, timeout, headers, json=json, data=data)

    def _call(
        self, method: str, path: str, timeout: float, headers: Mapping[str, str] | None = None, **what: Any
    ) -> dict[str, Any]:
        every = {"Authorization": f"Bearer {self.token}", "Accept": "application/json", **(headers or {})}
        url = f"{self.address}{path}"
        response = request(method, url, headers=every, timeout=timeout, max_bytes=MAX_ANSWER_BYTES, **what)
        if not 200 <= response.status < 300:
            raise XError(response)
        return _json_object(response)


@contextmanager
def platform_errors() -> Iterator[None]:
    """Turn the faults of calls into platform errors, for calls that do no harm when they are repeated."""
    try:
        yield
    except (OutboundError, XError) as error:
        raise platform_error(error) from error


@contextmanager
def content_errors(what: str) -> Iterator[None]:
    """As `platform_errors`, for calls that X may refuse for what they carry."""
    try:
        yield
    except OutboundError as error:
        raise platform_error(error) from error
    except XError as error:
        raise refusal(error, what) from error


def platform_error(error: OutboundError | XError) -> PlatformError:
    """What this fault of a call means where nothing came of the call."""
    if isinstance(error, OutboundError):
        return Transient("X could not be reached.")
    return _known(error) or _unknown(error)


def refusal(error: XError, what: str) -> PlatformError:
    """As `platform_error`, where X may have refused `what` was sent."""
    known = _known(error)
    refused = error.status in REFUSALS and (error.told or error.status == 413)
    if known is not None or not refused:
        return known or _unknown(error)
    if error.problem not in OF_CONTENT:
        unmapped("x", f"{error.status} {error.problem}")
    return ContentRejected(f"X does not take {what}: {error.reason}")


def _known(error: XError) -> PlatformError | None:
    """What an error means whatever the call was."""
    if error.status == 402 or error.problem == "usage-capped":
        return ConnectionUnavailable(
            f"X takes nothing more from this service, whose credits or allowance are used up: {error.reason}",
            suggested_action="Ask the operator of the service to see to its credits at X.",
        )
    if error.problem == "client-forbidden":
        return ConnectionUnavailable(f"X does not let this service use its API: {error.reason}")
    if error.status == 429:
        return RateLimited("X's rate limit is reached.", retry_after=error.retry_after)
    if error.status == 401:
        return TokenExpired("X does not accept the access token any more.")
    if error.problem == "unsupported-authentication" or (error.status == 403 and _ACCOUNT_CLOSED.search(error.reason)):
        return AccountDisconnected(f"X refuses the account: {error.reason}")
    return Transient(f"X answered {error.status}: {error.reason}") if error.status >= 500 else None


def _unknown(error: XError) -> PlatformError:
    unmapped("x", f"{error.status} {error.problem}")
    return Transient(f"X answered {error.status}: {error.reason}")


def data_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The object that an answer is about. Raises UnreadableAnswer."""
    data = answer.get("data")
    if not isinstance(data, dict):
        raise UnreadableAnswer("The answer holds no data.")
    return data


def id_of(entity: Mapping[str, Any]) -> str:
    """The id of a post, a user or a media file. Raises UnreadableAnswer."""
    value = entity.get("id")
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise UnreadableAnswer("What the answer is about has no id.")
    return value


def line(value: Any) -> str:
    """Text from X as one bounded line; empty for anything but text."""
    if not isinstance(value, str):
        return ""
    return "".join(char if char.isprintable() else " " for char in value[:MAX_LINE_LENGTH]).strip()


def _json_object(response: Response) -> dict[str, Any]:
    """The body; empty for anything but a JSON object, since some successes have none."""
    try:
        content = response.json()
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _problem(told: Mapping[str, Any]) -> str:
    _, known, name = line(told.get("type")).rpartition("/problems/")
    return name[:50] if known else ""


def _reason(told: Mapping[str, Any]) -> str:
    """What is wrong with a parameter says more than that one is wrong."""
    messages = [line(each.get("message")) for each in _errors(told)]
    return next(filter(None, [*messages, line(told.get("detail")), line(told.get("title"))]), "")


def _fields(told: Mapping[str, Any]) -> Iterator[str]:
    for each in _errors(told):
        parameters = each.get("parameters")
        yield from parameters if isinstance(parameters, dict) else ()


def _errors(told: Mapping[str, Any]) -> list[dict[str, Any]]:
    errors = told.get("errors")
    return [each for each in errors if isinstance(each, dict)] if isinstance(errors, list) else []


def _retry_after(response: Response) -> float | None:
    """Seconds until the last of the limits that are used up begins anew; their resets are in seconds since 1970."""
    headers = response.headers
    used_up = [name for name in _LIMITS if headers.get(f"{name}-remaining") == "0"] or _LIMITS[:1]
    resets = [headers.get(f"{name}-reset", "") for name in used_up]
    moments = [int(reset) for reset in resets if reset.isascii() and reset.isdecimal() and len(reset) <= 12]
    if not moments:
        return None
    return min(max(max(moments) - timezone.now().timestamp(), 0.0), MAX_RETRY_AFTER)
