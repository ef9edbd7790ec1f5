"""Calls of Mastodon's API: a path and parameters in, a status and JSON out.

A server may be anybody's, so its answers are untrusted: bounded in size, and what reaches a person is one bounded line
of printable characters. Errors are told as `{"error": text}`. Source: docs.joinmastodon.org, api/guidelines and
api/rate-limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone

from accounts.platforms.errors import AccountDisconnected, PlatformError, RateLimited, Transient, unmapped
from accounts.platforms.types import Grant
from config.outbound import NoAnswer, OutboundError, Response, request

TIMEOUT_SECONDS = 30.0
MAX_ANSWER_BYTES = 4_000_000  # a page of statuses, each with its account, media and link card
MAX_LINE_LENGTH = 300
MAX_RETRY_AFTER = 86_400.0

REFUSALS = frozenset({400, 413, 415, 422})  # of what was sent, as Mastodon and its kin tell it

# All that Takahe answers, with 400, to a token that is unknown or revoked (jointakahe/takahe, api/middleware.py), in
# lower case.
INVALID_BEARER = b"invalid bearer token"

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")  # snowflakes, ULIDs and flakes; it becomes part of a path


class MastodonError(Exception):
    """The server answered with an error: HTTP status, `message`, empty unless the API itself told one, `retry_after`.

    The status of a token that is not good is 401, whatever the server answers to it.
    """

    def __init__(self, status: int, message: str, retry_after: float | None) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message
        self.retry_after = retry_after


class UnreadableAnswer(NoAnswer):
    """The server answered success, but not with what the method answers."""


@dataclass(frozen=True)
class Answer:
    """A success; `content` is None where the body is no JSON."""

    status: int
    content: Any

    def one(self) -> dict[str, Any]:
        """The entity in the answer. Raises UnreadableAnswer."""
        if not isinstance(self.content, dict):
            raise UnreadableAnswer("The answer is not a JSON object.")
        return self.content

    def many(self) -> list[dict[str, Any]]:
        """The entities in the answer. Raises UnreadableAnswer."""
        if not isinstance(self.content, list) or not all(isinstance(each, dict) for each in self.content):
            raise UnreadableAnswer("The answer is not a list of JSON objects.")
        return self.content


@dataclass(frozen=True)
class Server:
    """A server, by its `address` without a trailing slash, spoken to with an account's token, or as nobody without one;
    `account` is its id there."""

    address: str
    token: str = field(default="", repr=False)
    account: str = ""

    @classmethod
    def of(cls, grant: Grant) -> Server:
        """The server of a connected account: its token was issued to the service, or given by the owner."""
        token = grant.tokens.get("access_token") or grant.credentials["access_token"]
        return cls(grant.tokens["instance"], token, grant.tokens["account"])

    def get(self, path: str, params: Mapping[str, str] | None = None, timeout: float = TIMEOUT_SECONDS) -> Answer:
        """Ask something, which changes nothing. Raises MastodonError, NotSent, NoAnswer."""
        return self._call("GET", path, timeout, params=params)

    def post(
        self,
        path: str,
        *,
        json: Any = None,
        data: Any = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT_SECONDS,
    ) -> Answer:
        """Have something done. Raises as `get`; after NoAnswer or a status of 5xx it may be done."""
        return self._call("POST", path, timeout, headers, json=json, data=data)

    def _call(
        self, method: str, path: str, timeout: float, headers: Mapping[str, str] | None = None, **what: Any
    ) -> Answer:
        bearer = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        every = {**bearer, "Accept": "application/json", **(headers or {})}
        url = f"{self.address}{path}"
        return _answer(request(method, url, headers=every, timeout=timeout, max_bytes=MAX_ANSWER_BYTES, **what))


@contextmanager
def platform_errors() -> Iterator[None]:
    """Turn the faults of calls into platform errors, for calls that do no harm when they are repeated."""
    try:
        yield
    except (OutboundError, MastodonError) as error:
        raise platform_error(error) from error


def platform_error(error: OutboundError | MastodonError) -> PlatformError:
    """What this fault of a call means: that it can be repeated, or an account that is closed to us.

    A token is good until it is revoked and cannot be refreshed, so none is ever merely stale.
    """
    if isinstance(error, OutboundError):
        return Transient("The account's server could not be reached.")
    if error.status == 429:
        return RateLimited("The rate limit of the account's server is reached.", retry_after=error.retry_after)
    # A firewall in front of a server says 403 as well, but not in the API's form.
    if error.status == 401 or (error.status == 403 and error.message):
        return AccountDisconnected(f"The server refuses the account: {error.message or 'no reason given'}")
    if error.status < 500:
        unmapped("mastodon", error.status)
    return Transient(
        f"The account's server answered {error.status}: {error.message or 'no reason given'}",
        retry_after=error.retry_after,
    )


def entity_id(entity: Mapping[str, Any]) -> str:
    """The id of an entity. Raises UnreadableAnswer."""
    value = entity.get("id")
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise UnreadableAnswer("An entity in the answer has no id.")
    return value


def line(value: Any) -> str:
    """Text from a server as one bounded line; empty for anything but text."""
    if not isinstance(value, str):
        return ""
    return "".join(char if char.isprintable() else " " for char in value[:MAX_LINE_LENGTH]).strip()


def _answer(response: Response) -> Answer:
    try:
        content = response.json()
    except ValueError:
        content = None
    if 200 <= response.status < 300:
        return Answer(response.status, content)
    if response.status == 400 and response.body.strip().lower() == INVALID_BEARER:
        raise MastodonError(401, line(response.body.decode()), None)
    message = line(content.get("error")) if isinstance(content, dict) else ""
    raise MastodonError(response.status, message, _retry_after(response))


def _retry_after(response: Response) -> float | None:
    """Seconds to wait, by Retry-After or else, at the rate limit, by the moment in X-RateLimit-Reset."""
    wait = response.headers.get("Retry-After", "")
    if wait.isascii() and wait.isdecimal() and len(wait) <= 15:
        seconds = float(wait)
    elif response.status == 429:
        try:
            reset = datetime.fromisoformat(response.headers.get("X-RateLimit-Reset", ""))
        except ValueError:
            return None
        seconds = (reset.replace(tzinfo=reset.tzinfo or UTC) - timezone.now()).total_seconds()
    else:
        return None
    return min(max(seconds, 0.0), MAX_RETRY_AFTER)
