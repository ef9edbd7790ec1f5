"""Calls of LinkedIn's REST API, and what its refusals mean.

Errors are `{status, code?, serviceErrorCode?, message, errorDetails?}`; what reaches a person of them is one bounded line.
Every call under /rest names the API's version, a month, which LinkedIn keeps for about a year. Quotas are of a day and
begin anew at midnight UTC. Source: learn.microsoft.com/linkedin (error handling, versioning, rate limits); the words of
refusals are those that clients report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from typing import Any
from urllib.parse import quote

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
from accounts.platforms.upload_addresses import is_own
from config.outbound import NoAnswer, OutboundError, Response, request

TIMEOUT_SECONDS = 30.0
UPLOAD_SECONDS = 120.0  # of one file, or of one part of a video
MAX_ANSWER_BYTES = 1_000_000
MAX_LINE_LENGTH = 300
MAX_RETRY_AFTER = 86_400.0

REFUSALS = frozenset({400, 413, 422})  # of what was sent
_CLASS_NAME = re.compile(r"^(?:[a-z]\w*\.)+\w+: ")  # LinkedIn's messages begin with the name of their exception
_DEAD_VERSION = re.compile(r"\bversion\b.*\bnot active\b|NONEXISTENT_VERSION|VERSION_MISSING", re.IGNORECASE)
_NOT_PERMITTED = re.compile(r"\bpermission|\bforbidden\b|\brestricted\b|\bnot authorized\b", re.IGNORECASE)
# Refusals of content whose words say all that there is to say.
_OF_CONTENT = frozenset({"", "100", "DUPLICATE_POST", "INVALID_CONTENT", "BAD_REQUEST", "FIELD_LENGTH_TOO_LONG"})
_LIKE_A_TOKEN = re.compile(r"[A-Za-z0-9_\-]{40,}")


class LinkedInError(Exception):
    """LinkedIn answered with an error: HTTP status, `code` (its name or number, or empty), `reason` in LinkedIn's words, and
    `retry_after` in seconds. `told` is false where the answer came from what stands before the API."""

    def __init__(self, response: Response) -> None:
        told = json_object(response)
        self.told = bool(told)
        self.status = response.status
        self.code = _code(told)
        self.reason = _CLASS_NAME.sub("", line(told.get("message"))) or "no reason given"
        self.retry_after = _retry_after(response, self.reason) if response.status == 429 else None
        super().__init__(f"{self.status} {self.code}: {self.reason}")


class UnreadableAnswer(NoAnswer):
    """LinkedIn answered success, but not with what the call answers."""


@dataclass(frozen=True)
class Api:
    """LinkedIn's API at `address`, without a trailing slash, spoken to with an access token in a version (YYYYMM)."""

    address: str
    token: str = field(repr=False)
    version: str

    def get(self, path: str) -> dict[str, Any]:
        """Ask something, which changes nothing. Raises LinkedInError, NotSent, NoAnswer."""
        return json_object(self._call("GET", path))

    def post(self, path: str, json: Mapping[str, Any]) -> Response:
        """Have something done. Raises as `get`; after NoAnswer or a status of 5xx it may be done."""
        return self._call("POST", path, json=dict(json))

    def put(self, url: str, data: Any) -> Response:
        """Send bytes to an address that LinkedIn has given for them; repeating it does no harm. Raises as `get`."""
        self._check_own(url)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/octet-stream"}
        return _checked(
            request("PUT", url, headers=headers, data=data, timeout=UPLOAD_SECONDS, max_bytes=MAX_ANSWER_BYTES)
        )

    def _call(self, method: str, path: str, **what: Any) -> Response:
        versioned = {"LinkedIn-Version": self.version, "X-Restli-Protocol-Version": "2.0.0"}
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Accept": "application/json",
            **(versioned if path.startswith("/rest/") else {}),
        }
        url = f"{self.address}{path}"
        return _checked(
            request(method, url, headers=headers, timeout=TIMEOUT_SECONDS, max_bytes=MAX_ANSWER_BYTES, **what)
        )

    def _check_own(self, url: str) -> None:
        """The token goes to LinkedIn and to nobody else. Raises UnreadableAnswer."""
        if not is_own(url, self.address, "linkedin.com"):
            raise UnreadableAnswer("The answer names an address to upload to that is not LinkedIn's.")


@contextmanager
def platform_errors() -> Iterator[None]:
    """Turn the faults of calls into platform errors, for calls that do no harm when they are repeated."""
    try:
        yield
    except (OutboundError, LinkedInError) as error:
        raise platform_error(error) from error


@contextmanager
def content_errors(what: str) -> Iterator[None]:
    """As `platform_errors`, for calls that LinkedIn may refuse for what they carry."""
    try:
        yield
    except OutboundError as error:
        raise platform_error(error) from error
    except LinkedInError as error:
        raise refusal(error, what) from error


def platform_error(error: OutboundError | LinkedInError) -> PlatformError:
    """What this fault of a call means where nothing came of the call."""
    if isinstance(error, OutboundError):
        return Transient("LinkedIn could not be reached.")
    return _known(error) or _unknown(error)


def refusal(error: LinkedInError, what: str) -> PlatformError:
    """As `platform_error`, where LinkedIn may have refused `what` was sent."""
    known = _known(error)
    if known is not None or error.status not in REFUSALS or not (error.told or error.status == 413):
        return known or _unknown(error)
    if error.code not in _OF_CONTENT:
        unmapped("linkedin", f"{error.status} {error.code}")
    return ContentRejected(f"LinkedIn does not take {what}: {error.reason}")


def quoted(urn: str) -> str:
    """A URN as a part of a path."""
    return quote(urn, safe="")


def line(value: Any) -> str:
    """Text from LinkedIn as one bounded line without anything like a token; empty for anything but text."""
    if not isinstance(value, str):
        return ""
    shown = "".join(char if char.isprintable() else " " for char in value[: 4 * MAX_LINE_LENGTH])
    return _LIKE_A_TOKEN.sub("…", shown)[:MAX_LINE_LENGTH].strip()


def json_object(response: Response) -> dict[str, Any]:
    """The body; empty for anything but a JSON object, since some successes have none."""
    try:
        content = response.json()
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _checked(response: Response) -> Response:
    if not 200 <= response.status < 300:
        raise LinkedInError(response)
    return response


def _known(error: LinkedInError) -> PlatformError | None:
    """What an error means whatever the call was."""
    if error.status == 426 or (error.status in (400, 404) and _DEAD_VERSION.search(f"{error.code} {error.reason}")):
        return ConnectionUnavailable(
            f"LinkedIn has retired the version of its API that this service asks for: {error.reason}",
            suggested_action="Ask the operator of the service to set LINKEDIN_API_VERSION to a version that LinkedIn keeps.",
        )
    if error.status == 429:
        return RateLimited("LinkedIn's limit is reached.", retry_after=error.retry_after)
    if error.status == 401:
        return TokenExpired("LinkedIn does not accept the access token any more.")
    if error.status == 403 and error.told and _NOT_PERMITTED.search(f"{error.code} {error.reason}"):
        return AccountDisconnected(
            f"LinkedIn does not let this login act for the account: {error.reason}",
            suggested_action="See that the person who connected it still has a role at the page, reconnect the account, "
            "then retry the post.",
        )
    return Transient(f"LinkedIn answered {error.status}: {error.reason}") if error.status >= 500 else None


def _unknown(error: LinkedInError) -> PlatformError:
    unmapped("linkedin", f"{error.status} {error.code}".strip())
    return Transient(f"LinkedIn answered {error.status} {error.code}".strip() + f": {error.reason}")


def _code(told: Mapping[str, Any]) -> str:
    """The name of what is wrong, as exactly as LinkedIn tells it."""
    details = told.get("errorDetails")
    inputs = details.get("inputErrors") if isinstance(details, dict) else None
    first = inputs[0] if isinstance(inputs, list) and inputs and isinstance(inputs[0], dict) else {}
    named = line(first.get("code")) or line(told.get("code"))
    number = told.get("serviceErrorCode")
    return (named or (str(number) if type(number) is int else ""))[:50]


def _retry_after(response: Response, reason: str) -> float | None:
    wait = response.headers.get("Retry-After", "")
    if wait.isascii() and wait.isdecimal() and len(wait) <= 9:
        return min(float(wait), MAX_RETRY_AFTER)
    if " day " not in f" {reason.lower()} ":
        return None
    now = timezone.now().astimezone(UTC)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return (midnight - now).total_seconds()
