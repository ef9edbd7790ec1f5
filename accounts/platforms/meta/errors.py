"""Errors of Meta's products: their meaning, according to codes and subcodes, and the waiting times for daily limits.

Errors are `{error: {message, type, code, error_subcode, is_transient, error_user_msg, error_data}}`; Instagram's token
endpoint answers `{error_type, code, error_message}`, and the servers for uploads `{debug_info: {type, message}}`.
Sources: developers.facebook.com, graph-api/guides/error-handling, graph-api/overview/rate-limiting (usage),
instagram-platform (errors of its token endpoint) and instagram-graph-api/reference/error-codes; subcodes of publishing are
those that clients report.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Literal

from django.utils.translation import gettext_noop

from accounts.platforms.errors import (
    ConnectionUnavailable,
    OutcomeUnknown,
    PlatformError,
    RateLimited,
    ReauthRequired,
    TokenExpired,
)
from accounts.platforms.http.errors import ErrorTranslator, PlatformHttpError
from accounts.platforms.http.responses import (
    clamped_wait_seconds,
    json_object_or_none,
    line_without_tokens,
    object_or_empty,
    objects_in,
)
from config.outbound import Response

# What Meta's error is about: "permission" is the account or one of its permissions, "app" the operator's app.
Meaning = Literal["token", "permission", "rate_limit", "transient", "content", "app"]

DEFAULT_WAIT_SECONDS = 300.0  # Meta counts calls over the last hour; this is a part of it
# A limit on what an account publishes within 24 hours allows another post 24 hours after one of those that are counted. Other
# posts of the account may wait for it too, so the pauses grow with each attempt: the six pauses of the default retry schedule
# together are longer than 24 hours.
DAILY_LIMIT_PAUSES_HOURS = (0.5, 1.0, 2.0, 4.0, 8.0, 12.0)

COMMON_MEANINGS: dict[int, Meaning] = {
    **dict.fromkeys((1, 2), "transient"),
    **dict.fromkeys((3, 101), "app"),
    **dict.fromkeys((4, 17, 32, 341, 613, *range(80_000, 80_015)), "rate_limit"),
    **dict.fromkeys((10, *range(200, 300)), "permission"),
    **dict.fromkeys((100, 368, 506), "content"),
    **dict.fromkeys((102, 190), "token"),
}
# Errors about the operator's credentials have various codes.
_ABOUT_APP = re.compile(
    r"appsecret_proof|client[ _](?:secret|id)|validating application|invalid (?:platform )?app\b|app[ _]id", re.IGNORECASE
)


class GraphError(PlatformHttpError):
    """An error response of Meta's Graph API, with its code and subcode.

    `number` and `subcode` are Meta's codes, 0 if it gave none. `code` and `reason` contain both for people to search for.
    """

    def __init__(self, response: Response) -> None:
        error = _error_in(json_object_or_none(response) or {})
        self.number, self.subcode = _number(error.get("code")), _number(error.get("error_subcode"))
        code = f"code {self.number}" + (f", {self.subcode}" if self.subcode else "") if error else ""
        super().__init__(response, code=code, reason=line_without_tokens(error.get("error_user_msg")) or error.get("message"))
        if error:
            self.reason += f" ({code})"
        self.from_api = bool(error)
        self.is_transient = error.get("is_transient") is True
        self.data = object_or_empty(error.get("error_data"))
        if self.retry_after is None:
            self.retry_after = _seconds_until_access(response.headers)


class MetaErrorTranslator(ErrorTranslator[GraphError]):
    """The translation of one Meta product's API errors into PlatformErrors; `meanings` has the product's own codes."""

    error = GraphError
    meanings: ClassVar[Mapping[int, Meaning]] = {}

    def meaning_of_error_or_none(self, error: GraphError) -> Meaning | None:
        """Return what a Meta error is about, such as the token or the content; None if the error's codes are unknown."""
        if not error.from_api:
            return "rate_limit" if error.status == 429 else "transient" if error.status >= 500 else None
        if _ABOUT_APP.search(error.reason):
            return "app"
        meaning = self.meanings.get(error.subcode) or self.meanings.get(error.number) or COMMON_MEANINGS.get(error.number)
        if meaning in ("token", "permission", "rate_limit", "app"):
            return meaning
        if error.is_transient or error.status >= 500:
            return "transient"
        return meaning or ("rate_limit" if error.status == 429 else None)

    def means_content_rejected(self, error: GraphError) -> bool:
        """Return whether Meta's error means refused content, which is also assumed for errors with unknown codes."""
        meaning = self.meaning_of_error_or_none(error)
        return meaning == "content" or (meaning is None and (error.from_api or error.status == 413))

    def request_may_have_taken_effect(self, error: GraphError) -> bool:
        """Return whether Meta may have carried out the request although it answered with this error."""
        return error.status >= 500 or self.meaning_of_error_or_none(error) == "transient"

    def is_documented_refusal(self, error: GraphError) -> bool:
        """Return whether a Meta error is known by its codes, text or status; unknown ones are reported to the operator."""
        return self.meaning_of_error_or_none(error) is not None

    @contextmanager
    def translating_search_errors(self, what: str, unreadable: tuple[Meaning, ...] = ("permission",)) -> Iterator[None]:
        """Return a context manager that turns Meta's errors into PlatformErrors during a search for a post or comment.

        Raises OutcomeUnknown if the list may not be read.
        """
        with self.translating_repeatable_call_errors():
            try:
                yield
            except GraphError as error:
                if self.meaning_of_error_or_none(error) not in unreadable:
                    raise
                message = f"{self.label} does not let this service read {what}: {error.reason}"
                raise OutcomeUnknown(message, final=True) from error

    def _meaning(self, error: GraphError) -> PlatformError | None:
        """Return the exception to raise for a Meta error, chosen by its codes; None for refused content and unknown codes.

        The HTTP status says little.
        """
        meaning = self.meaning_of_error_or_none(error)
        if meaning == "token":
            return TokenExpired(f"{self.label} no longer accepts the access token: {error.reason}")
        if meaning == "permission":
            return ReauthRequired(
                f"{self.label} does not let this service act for the account: {error.reason}",
                suggested_action=gettext_noop(
                    "Reconnect the account and grant everything that is asked for, then retry the post."
                ),
            )
        if meaning == "rate_limit":
            seconds = error.retry_after or DEFAULT_WAIT_SECONDS
            return RateLimited(f"{self.label}'s rate limit is reached: {error.reason}", retry_after=seconds)
        if meaning == "app":
            return ConnectionUnavailable(f"{self.label} does not accept this service's app: {error.reason}")
        return self.transient_error(error) if meaning == "transient" else None


def daily_limit_backoff_seconds(attempt: int) -> float:
    """Return how many seconds to wait after one of Meta's daily limits is reached, longer after each failed attempt."""
    return DAILY_LIMIT_PAUSES_HOURS[min(attempt, len(DAILY_LIMIT_PAUSES_HOURS)) - 1] * 3600


def _error_in(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the error object in a response of Meta's Graph API; empty if the response is no error."""
    if error := object_or_empty(content.get("error")):
        return error
    if "error_message" in content:
        return {"message": content["error_message"], "code": content.get("code")}
    if debug := object_or_empty(content.get("debug_info")):
        return {"message": debug.get("message"), "is_transient": debug.get("retriable")}
    return {}


def _seconds_until_access(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds to wait until Meta's Graph API accepts calls again, from its usage header.

    The header is `{id: [{type, call_count, estimated_time_to_regain_access}]}`, with minutes as the unit.
    """
    try:
        usage = json.loads(headers.get("X-Business-Use-Case-Usage", "")[:100_000])
    except (ValueError, RecursionError):
        return None
    minutes = [
        case.get("estimated_time_to_regain_access") for cases in object_or_empty(usage).values() for case in objects_in(cases)
    ]
    longest = max((each for each in minutes if isinstance(each, int | float)), default=0)
    return clamped_wait_seconds(longest * 60.0) if longest > 0 else None


def _number(value: Any) -> int:
    return value if type(value) is int else 0
