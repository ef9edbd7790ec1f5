"""The clients of TikTok's API v2 and of its OAuth endpoints, and the translation of TikTok's errors.

Every response is `{data, error: {code, message, log_id}}`. Only the code `ok` is success; errors may have the status 200.

Access tokens last some hours, refresh tokens some months. A renewal may replace the refresh token, after which the old one
no longer works. Only some apps have to use PKCE, and TikTok's S256 challenge for them is in hexadecimal; so it is a setting
of the operator (TIKTOK_PKCE: S256 or hex). Sources: developers.tiktok.com, error handling, the references of content posting,
Login Kit for web and for desktop, manage user access tokens; the limits of posts are what clients report.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import (
    ConnectionUnavailable,
    ContentRejected,
    PlatformError,
    RateLimited,
    ReauthRequired,
    TokenExpired,
)
from accounts.platforms.http.client import JsonClient
from accounts.platforms.http.errors import ErrorTranslator, PlatformHttpError
from accounts.platforms.http.oauth import PlatformOAuthClient
from accounts.platforms.http.responses import UnreadableAnswer, json_object_or_none, line_without_tokens, object_or_empty
from config.outbound import Response

SITE = "https://www.tiktok.com"
MINUTE_SECONDS = 60.0  # calls are limited per minute, and no header says when the next one begins
DAILY_LIMIT_PAUSE_SECONDS = 4 * 3600.0  # posts are limited per 24 hours, and TikTok does not say when they began

DAILY_LIMIT_MESSAGES = {
    "spam_risk_too_many_posts": gettext_noop("The creator has posted as much by other services as TikTok allows in a day."),
    "spam_risk_too_many_pending_share": gettext_noop("Too many posts of the creator are pending at TikTok."),
}
ACCOUNT_ERRORS = {
    "scope_not_authorized": gettext_noop("The grant does not allow what the service needs at TikTok."),
    "scope_permission_missed": gettext_noop("The grant does not allow what the service needs at TikTok."),
    "auth_removed": gettext_noop("The creator has taken the access away."),
}
SERVICE_ERRORS = {
    "unaudited_client_can_only_post_to_private_accounts": gettext_noop(
        "TikTok has not audited the operator's app, which may therefore post to private accounts only."
    ),
    "reached_active_user_cap": gettext_noop("As many creators have posted by the operator's app today as TikTok allows."),
    "url_ownership_unverified": gettext_noop(
        "TikTok fetches no photos from this service, whose address the operator has not verified."
    ),
}
BANNED_CODE = "spam_risk_user_banned_from_posting"
TRANSIENT_ERRORS = frozenset({"internal_error", "internal", "timeout"})
_CODE = re.compile(r"[\w.-]{1,80}", re.ASCII)


class TikTokOAuthClient(PlatformOAuthClient):
    """The client of TikTok's OAuth endpoints, with the operator's app, whose client id TikTok calls a client key."""

    label = "TikTok"
    scope_separator = ","
    client_id_parameter = "client_key"
    revoked_statuses = frozenset({200, 400, 401})

    def pkce_challenge(self, verifier: str) -> str:
        """Return the PKCE challenge of an OAuth verifier for TikTok, in hexadecimal if a setting says so."""
        return hashlib.sha256(verifier.encode()).hexdigest() if self.pkce == "hex" else super().pkce_challenge(verifier)


class TikTokError(PlatformHttpError):
    """An error response of TikTok's API; `code` is TikTok's name for the error."""

    def __init__(self, response: Response) -> None:
        error = object_or_empty((json_object_or_none(response) or {}).get("error"))
        name = error.get("code")
        # `line_without_tokens` would mistake a long code for a token.
        code = name if isinstance(name, str) and _CODE.fullmatch(name) else ""
        super().__init__(response, code=code, reason=line_without_tokens(error.get("message")) or code)


class Api(JsonClient):
    """The client of TikTok's API with a creator's access token. Calls raise TikTokError, NotSent, SentWithoutAnswer.

    `get` and `post` return the response's `data`. After SentWithoutAnswer, or an error that may have an effect, the
    call may have been carried out.
    """

    error = TikTokError
    max_bytes = 262_144

    def get(self, path: str, params: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Send a GET request to TikTok's API. Returns the `data` object of the response."""
        return object_or_empty(super().get(path, params).get("data"))

    def post(self, path: str, **body: Any) -> dict[str, Any]:
        """Send a POST request to TikTok's API. Returns the `data` object of the response."""
        return object_or_empty(super().post(path, **body).get("data"))

    def is_success(self, response: Response) -> bool:
        """Return whether TikTok's response reports success. Raises UnreadableAnswer for status 200 without TikTok's code."""
        code = object_or_empty((json_object_or_none(response) or {}).get("error")).get("code")
        if response.status == 200 and not code:
            raise UnreadableAnswer("The response does not say whether the call succeeded.")
        return response.status == 200 and code == "ok"


class TikTokErrorTranslator(ErrorTranslator[TikTokError]):
    """The translation of TikTok's API errors into platform errors."""

    name = "tiktok"
    label = "TikTok"
    error = TikTokError
    documented_codes = frozenset(
        {
            "invalid_param",
            "invalid_params",
            "invalid_file_upload",
            "privacy_level_option_mismatch",
            "spam_risk",
            "spam_risk_text",
        }
    )

    def platform_specific_error(self, error: TikTokError) -> PlatformError | None:
        """Return the PlatformError for a TikTok error with a known name; None for all other errors."""
        if error.code in DAILY_LIMIT_MESSAGES:
            return RateLimited(DAILY_LIMIT_MESSAGES[error.code], retry_after=DAILY_LIMIT_PAUSE_SECONDS)
        if error.code == "rate_limit_exceeded" or error.status == 429:
            return RateLimited(
                gettext_noop("TikTok's rate limit is reached."), retry_after=error.retry_after or MINUTE_SECONDS
            )
        if error.code in ACCOUNT_ERRORS:
            return ReauthRequired(ACCOUNT_ERRORS[error.code])
        if error.code == "access_token_invalid":
            return TokenExpired(gettext_noop("TikTok no longer accepts the access token."))
        if error.code in SERVICE_ERRORS:
            return ConnectionUnavailable(
                SERVICE_ERRORS[error.code],
                suggested_action=gettext_noop("Ask the operator of the service to check its app at TikTok."),
            )
        if error.code == BANNED_CODE:
            return ContentRejected(f"TikTok does not let the creator post: {error.reason}")
        return self.transient_error(error) if error.code in TRANSIENT_ERRORS else None

    def means_content_rejected(self, error: TikTokError) -> bool:
        """Return whether a TikTok error means refused content, which is assumed for every error with a name."""
        return bool(error.code)

    def request_may_have_taken_effect(self, error: TikTokError) -> bool:
        """Return whether TikTok may have carried out a request that it answered with an error, such as a server error."""
        return error.status >= 500 or error.code in TRANSIENT_ERRORS


ERRORS = TikTokErrorTranslator()


def profile_url(username: str) -> str:
    """Return the URL at which TikTok shows a creator, made from the user name in a response of TikTok's API."""
    return f"{SITE}/@{username}"
