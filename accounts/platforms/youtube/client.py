"""Calls of YouTube's Data API: what goes out with an account's token, and what Google's refusals mean.

Errors are `{error: {code, message, status, errors: [{domain, reason, message}]}}`; the reason tells what is meant. The
daily quota is the service's, begins anew at midnight in California, and no header tells of it. Sources:
developers.google.com/youtube/v3, errors and quota; the reasons of videos.insert, videos.list, thumbnails.set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

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
MAX_ANSWER_BYTES = 1_000_000
MAX_LINE_LENGTH = 300
MAX_RETRY_AFTER = 86_400.0
CALIFORNIA = ZoneInfo("America/Los_Angeles")
CHANNEL_PAUSE_SECONDS = 4 * 3600.0  # a channel may upload so many videos in 24 hours; when it may again is not told

OF_THE_DAY = frozenset({"quotaExceeded", "dailyLimitExceeded", "dailyLimitExceededUnreg"})
OF_THE_CHANNEL = frozenset({"uploadLimitExceeded", "uploadRateLimitExceeded"})
OF_HASTE = frozenset({"rateLimitExceeded", "userRateLimitExceeded"})
OF_THE_ACCOUNT = {
    "youtubeSignupRequired": "The Google account has no YouTube channel.",
    "insufficientPermissions": "The grant does not allow what the service needs at YouTube.",
    "ACCESS_TOKEN_SCOPE_INSUFFICIENT": "The grant does not allow what the service needs at YouTube.",
    "authenticatedUserAccountClosed": "The YouTube account is closed.",
    "authenticatedUserAccountSuspended": "The YouTube account is suspended.",
    "accountClosed": "The YouTube account is closed.",
    "accountSuspended": "The YouTube account is suspended.",
    "channelClosed": "The channel is closed.",
    "channelSuspended": "The channel is suspended.",
}
OF_THE_SERVICE = frozenset({"accessNotConfigured", "SERVICE_DISABLED", "accessTerminated", "keyInvalid"})
OF_CONTENT = re.compile(
    r"invalid[A-Z]\w*|forbidden\w*|mediaBodyRequired|defaultLanguageNotSet|mediaBytes\w+|\w*TooLarge"
)

_ID = re.compile(r"[\w-]{1,64}", re.ASCII)
_SECONDS = re.compile(r"[0-9]{1,9}")


class YouTubeError(Exception):
    """YouTube answered with an error: HTTP status, `reason` by Google's name for it, `words` fit for a person."""

    def __init__(self, response: Response) -> None:
        error = _object(json_object(response).get("error"))
        self.status = response.status
        self.reason = _reason(error)
        self.words = line(error.get("message")) or "no reason given"
        self.told = bool(error)
        wait = response.headers.get("Retry-After", "")
        self.retry_after = min(float(wait), MAX_RETRY_AFTER) if _SECONDS.fullmatch(wait) else None
        super().__init__(f"{self.status} {self.reason}: {self.words}")


class UnreadableAnswer(NoAnswer):
    """YouTube answered success, but not with what the call answers."""


@dataclass(frozen=True)
class Api:
    """The API at `address`, without a trailing slash, spoken to with an account's access token."""

    address: str
    token: str = field(repr=False)

    def get(self, path: str, params: Mapping[str, str]) -> dict[str, Any]:
        """Ask something. Raises YouTubeError, NotSent, NoAnswer."""
        return json_object(self.call("GET", f"{self.address}{path}", params=params))

    def call(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = TIMEOUT_SECONDS,
        **what: Any,
    ) -> Response:
        """One request, and its answer of success; 308 is one as well. Raises as `get`."""
        every = {"Authorization": f"Bearer {self.token}", "Accept": "application/json", **(headers or {})}
        response = request(method, url, headers=every, timeout=timeout, max_bytes=MAX_ANSWER_BYTES, **what)
        if not 200 <= response.status < 300 and response.status != 308:
            raise YouTubeError(response)
        return response


@contextmanager
def platform_errors() -> Iterator[None]:
    """Turn the faults of calls into platform errors, for calls that do no harm when they are repeated."""
    try:
        yield
    except OutboundError as error:
        raise Transient("YouTube could not be reached.") from error
    except YouTubeError as error:
        raise refusal(error) from error


def refusal(error: YouTubeError) -> PlatformError:
    """What an answer of error means where nothing came of the call."""
    known = _limit(error) or _standing(error)
    if known is not None:
        return known
    if error.status >= 500 or error.status in (408, 409):
        return Transient(f"YouTube answered {error.status}: {error.words}")
    if OF_CONTENT.fullmatch(error.reason) or error.status == 413:
        return ContentRejected(f"YouTube does not take this video: {error.words}")
    unmapped("youtube", f"{error.status} {error.reason}".strip())
    if error.told and error.status == 400:
        return ContentRejected(f"YouTube does not take this video: {error.words}")
    return Transient(f"YouTube answered {error.status}: {error.words}")


def _limit(error: YouTubeError) -> PlatformError | None:
    if error.reason in OF_THE_DAY:
        return RateLimited(
            "The service's quota at YouTube is used up for today.", retry_after=seconds_to_midnight_in_california()
        )
    if error.reason in OF_THE_CHANNEL:
        return RateLimited("The channel has uploaded as much as YouTube allows.", retry_after=CHANNEL_PAUSE_SECONDS)
    if error.reason in OF_HASTE or error.status == 429:
        return RateLimited("YouTube's rate limit is reached.", retry_after=error.retry_after)
    return None


def _standing(error: YouTubeError) -> PlatformError | None:
    """What is wrong with the account, or with the service itself."""
    if error.reason in OF_THE_ACCOUNT:
        return AccountDisconnected(OF_THE_ACCOUNT[error.reason])
    if error.status == 401:
        return TokenExpired("YouTube does not accept the access token any more.")
    if error.reason in OF_THE_SERVICE:
        return ConnectionUnavailable(f"Google does not let this service use YouTube's API: {error.words}")
    return None


def seconds_to_midnight_in_california() -> float:
    """Until the daily quota begins anew, and a minute."""
    now = timezone.now().astimezone(CALIFORNIA)
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight.timestamp() - now.timestamp() + 60.0


def items_of(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The objects of a list. Raises UnreadableAnswer."""
    items = answer.get("items", [])
    if "kind" not in answer or not isinstance(items, list):
        raise UnreadableAnswer("The answer holds no list.")
    return [item for item in items if isinstance(item, dict)]


def id_of(resource: Mapping[str, Any]) -> str:
    """The id of a channel or a video. Raises UnreadableAnswer."""
    value = resource.get("id")
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise UnreadableAnswer("What the answer is about has no id.")
    return value


def line(value: Any) -> str:
    """Text from YouTube as one bounded line; empty for anything but text."""
    if not isinstance(value, str):
        return ""
    return "".join(char if char.isprintable() else " " for char in value[:MAX_LINE_LENGTH]).strip()


def json_object(response: Response) -> dict[str, Any]:
    """The body; empty for anything but a JSON object."""
    try:
        return _object(response.json())
    except ValueError:
        return {}


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _reason(error: Mapping[str, Any]) -> str:
    """The first reason; newer errors tell theirs in `details`."""
    for name in ("errors", "details"):
        told = error.get(name)
        for each in told if isinstance(told, list) else []:
            if reason := line(_object(each).get("reason"))[:60]:
                return reason
    return ""
