"""The clients of X's API v2 and of its OAuth endpoints, and the translation of X's errors.

Access tokens last two hours, and a refresh token can be used once. Errors are problem documents `{type, title, detail,
errors?}` or `{errors: [{code, message}]}`. Sources: docs.x.com (OAuth 2.0 Authorization Code Flow with PKCE, response codes,
rate limits), and reports of API clients for the wording of refusals.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ConnectionUnavailable, PlatformError, ReauthRequired
from accounts.platforms.http.client import JsonClient
from accounts.platforms.http.errors import ErrorTranslator, PlatformHttpError
from accounts.platforms.http.oauth import GRANT_ENDED_CODES, PlatformOAuthClient
from accounts.platforms.http.responses import (
    UnreadableAnswer,
    json_object_or_none,
    line_without_tokens,
    object_or_empty,
    objects_in,
    one_line,
    required_matching_text,
)
from config.outbound import Response

SITE = "https://x.com"
_ACCOUNT_CLOSED = re.compile(r"\baccount (?:is|has been) (?:temporarily )?(?:suspended|locked|deactivated)", re.IGNORECASE)
_LIMITS = ("x-rate-limit", "x-user-limit-24hour", "x-app-limit-24hour")
_ID = re.compile(r"[0-9]{1,19}")


class XError(PlatformHttpError):
    """The client's exception for an error response of X's API.

    `code` is the last part of the problem's type, such as usage-capped; `fields` are the parameters that the error is about.
    """

    def __init__(self, response: Response) -> None:
        content = json_object_or_none(response) or {}
        reset_headers = (_reset_header(response.headers),)
        super().__init__(response, code=_problem(content), reason=_reason(content), reset_headers=reset_headers)
        self.fields = frozenset(
            name for each in objects_in(content.get("errors")) for name in object_or_empty(each.get("parameters"))
        )

    @property
    def is_duplicate(self) -> bool:
        """Return whether this XError refuses a post because the account has already posted the same text."""
        return self.status == 403 and "duplicate content" in self.reason.lower()

    @property
    def is_about_media(self) -> bool:
        """Return whether this XError refuses a post because of its media, such as uploaded media that have expired."""
        return self.status == 400 and ("media.media_ids" in self.fields or "media ids are invalid" in self.reason.lower())


class XOAuthClient(PlatformOAuthClient):
    """The client of X's OAuth endpoints, with the operator's app."""

    label = "X"
    basic = True
    # X reports an unknown refresh token as an invalid request.
    grant_ended_codes = GRANT_ENDED_CODES | {"invalid_request"}


@dataclass(frozen=True)
class Api(JsonClient):
    """The client of X's API with the access token of one account. Calls raise XError, NotSent, SentWithoutAnswer."""

    account_id: str = ""
    username: str = ""

    error = XError
    max_bytes = 2_000_000  # a page of posts with their entities


class XErrorTranslator(ErrorTranslator[XError]):
    """The translation of X's API errors into platform errors."""

    name = "x"
    label = "X"
    error = XError
    documented_codes = frozenset(
        {"", "invalid-request", "resource-not-found", "not-authorized-for-resource", "disallowed-resource"}
    )

    def platform_specific_error(self, error: XError) -> PlatformError | None:
        """Return the PlatformError for X's errors about the operator's API plan or the account; None for other errors."""
        if error.status == 402 or error.code == "usage-capped":
            return ConnectionUnavailable(
                f"X accepts nothing more from this service, because its credits or allowance are used up: {error.reason}",
                suggested_action=gettext_noop("Ask the operator of the service to check its credits at X."),
            )
        if error.code == "client-forbidden":
            return ConnectionUnavailable(f"X does not let this service use its API: {error.reason}")
        is_closed = error.status == 403 and _ACCOUNT_CLOSED.search(error.reason)
        if error.status != 401 and (is_closed or error.code == "unsupported-authentication"):
            return ReauthRequired(f"X refuses the account: {error.reason}")
        return None


ERRORS = XErrorTranslator()


def data_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `data` object of a response to X's API client. Raises UnreadableAnswer."""
    data = answer.get("data")
    if not isinstance(data, dict):
        raise UnreadableAnswer("The response has no data.")
    return data


def id_of(entity: Mapping[str, Any]) -> str:
    """Return the id of a post, a user or a media file in a response to X's API client. Raises UnreadableAnswer."""
    return required_matching_text(entity, "id", _ID, "id")


def _problem(content: Mapping[str, Any]) -> str:
    _, found, name = one_line(content.get("type")).rpartition("/problems/")
    return name[:50] if found else ""


def _reason(content: Mapping[str, Any]) -> str:
    """Return the explanation in an error response to X's API client: a message about a parameter, or else the title.

    The message says more than the title.
    """
    messages = [line_without_tokens(each.get("message")) for each in objects_in(content.get("errors"))]
    return next(
        filter(None, [*messages, line_without_tokens(content.get("detail")), line_without_tokens(content.get("title"))]), ""
    )


def _reset_header(headers: Mapping[str, str]) -> str:
    """Return the HTTP header in which a response to X's API client says when the rate limit is reset.

    If several limits are exhausted, it is the one that is reset last.
    """
    exhausted = [name for name in _LIMITS if headers.get(f"{name}-remaining") == "0"] or _LIMITS[:1]
    return max((f"{name}-reset" for name in exhausted), key=lambda name: headers.get(name, ""))
