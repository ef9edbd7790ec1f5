"""Calls of TikTok's API v2: a body in, the `data` of the answer out, and what TikTok's refusals mean.

Every answer is `{data, error: {code, message, log_id}}`; `ok` alone is success, since errors may come with status 200.
Sources: developers.tiktok.com, error handling and the references of content posting; what clients report of the caps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

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
MAX_ANSWER_BYTES = 262_144
MAX_LINE_LENGTH = 300
MINUTE_SECONDS = 60.0  # limits of calls are by the minute, and no header tells when the next one begins
DAY_PAUSE_SECONDS = 4 * 3600.0  # caps of posts are over 24 hours, and nothing tells since when

OF_THE_DAY = {
    "spam_risk_too_many_posts": "The creator has posted as much by other services as TikTok allows in a day.",
    "spam_risk_too_many_pending_share": "Too many posts of the creator are pending at TikTok.",
}
OF_THE_ACCOUNT = {
    "scope_not_authorized": "The grant does not allow what the service needs at TikTok.",
    "scope_permission_missed": "The grant does not allow what the service needs at TikTok.",
    "auth_removed": "The creator has taken the access away.",
}
OF_THE_SERVICE = {
    "unaudited_client_can_only_post_to_private_accounts": "TikTok has not audited the operator's app, which may therefore "
    "post to private accounts only.",
    "reached_active_user_cap": "As many creators have posted by the operator's app today as TikTok allows.",
    "url_ownership_unverified": "TikTok fetches no photos from this service, whose address the operator has not verified.",
}
OF_CONTENT = frozenset(
    {
        "invalid_param",
        "invalid_params",
        "invalid_file_upload",
        "privacy_level_option_mismatch",
        "spam_risk",
        "spam_risk_text",
        "spam_risk_user_banned_from_posting",
    }
)
PASSING = frozenset({"internal_error", "internal", "timeout"})


class TikTokError(Exception):
    """TikTok answered with an error: HTTP status, its `code`, and `words` fit for a person."""

    def __init__(self, response: Response) -> None:
        error = _object(_json_object(response).get("error"))
        self.status = response.status
        self.code = line(error.get("code"))[:80]
        self.words = line(error.get("message")) or self.code or "no reason given"
        super().__init__(f"{self.status} {self.code}: {self.words}")

    @property
    def is_passing(self) -> bool:
        """Whether the fault is TikTok's own; what was asked for may be done all the same."""
        return self.status >= 500 or self.code in PASSING


class UnreadableAnswer(NoAnswer):
    """TikTok answered success, but not with what the call answers."""


@dataclass(frozen=True)
class Api:
    """TikTok's API at `address`, without a trailing slash, spoken to with a creator's access token."""

    address: str
    token: str = field(repr=False)

    def get(self, path: str, params: Mapping[str, str]) -> dict[str, Any]:
        """Ask something; the answer's data. Raises TikTokError, NotSent, NoAnswer."""
        return self._call("GET", path, params=params)

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Ask something, or have it done. Raises as `get`; after NoAnswer, or an error that is passing, it may be done."""
        return self._call("POST", path, json=dict(body or {}))

    def _call(self, method: str, path: str, **what: Any) -> dict[str, Any]:
        answer = request(
            method,
            f"{self.address}{path}",
            headers={"Authorization": f"Bearer {self.token}", "Accept": "application/json"},
            timeout=TIMEOUT_SECONDS,
            max_bytes=MAX_ANSWER_BYTES,
            **what,
        )
        content = _json_object(answer)
        code = _object(content.get("error")).get("code")
        if answer.status == 200 and code == "ok":
            return _object(content.get("data"))
        if answer.status == 200 and not code:
            raise UnreadableAnswer("The answer does not say what became of the call.")
        raise TikTokError(answer)


@contextmanager
def platform_errors() -> Iterator[None]:
    """Turn the faults of calls into platform errors, for calls that do no harm when they are repeated."""
    try:
        yield
    except OutboundError as error:
        raise Transient("TikTok could not be reached.") from error
    except TikTokError as error:
        raise refusal(error) from error


def refusal(error: TikTokError) -> PlatformError:
    """What an error means where nothing came of the call."""
    known = _limit(error) or _standing(error)
    if known is not None:
        return known
    if error.is_passing:
        return Transient(f"TikTok answered {error.status}: {error.words}")
    if error.code not in OF_CONTENT:
        unmapped("tiktok", f"{error.status} {error.code}".strip())
    if error.code and error.status < 500:
        return ContentRejected(f"TikTok does not take this post: {error.words}")
    return Transient(f"TikTok answered {error.status}: {error.words}")


def _limit(error: TikTokError) -> PlatformError | None:
    if error.code in OF_THE_DAY:
        return RateLimited(OF_THE_DAY[error.code], retry_after=DAY_PAUSE_SECONDS)
    if error.code == "rate_limit_exceeded" or error.status == 429:
        return RateLimited("TikTok's rate limit is reached.", retry_after=MINUTE_SECONDS)
    return None


def _standing(error: TikTokError) -> PlatformError | None:
    """What is wrong with the account, or with the service itself."""
    if error.code in OF_THE_ACCOUNT:
        return AccountDisconnected(OF_THE_ACCOUNT[error.code])
    if error.status == 401 or error.code == "access_token_invalid":
        return TokenExpired("TikTok does not accept the access token any more.")
    if error.code in OF_THE_SERVICE:
        return ConnectionUnavailable(
            OF_THE_SERVICE[error.code], suggested_action="Ask the operator of the service to see to its app at TikTok."
        )
    return None


def line(value: Any) -> str:
    """Text from TikTok as one bounded line; empty for anything but text."""
    if not isinstance(value, str):
        return ""
    return "".join(char if char.isprintable() else " " for char in value[:MAX_LINE_LENGTH]).strip()


def _json_object(response: Response) -> dict[str, Any]:
    try:
        return _object(response.json())
    except ValueError:
        return {}


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
