"""The clients of YouTube's Data API and of Google's OAuth endpoints, and the translation of YouTube's errors.

Access tokens last an hour. A refresh token stays the same; Google issues one only with `access_type=offline` and, after the
first consent, only with `prompt=consent`. It ends when the owner revokes the access, after half a year without use, or after
a week while the operator's consent screen is in testing. Owners may grant a part of the scopes.

Errors are `{error: {code, message, status, errors: [{domain, reason, message}]}}`, where the reason names the error. The
daily quota belongs to the service and is reset at midnight in California, which no header says. Sources:
developers.google.com/youtube/v3, errors and quota; the reasons of videos.insert, videos.list, thumbnails.set;
developers.google.com/identity/protocols/oauth2/web-server, and its parent on expiration.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import timezone
from django.utils.translation import gettext_noop

from accounts.platforms.errors import ConnectionUnavailable, PlatformError, RateLimited, ReauthRequired
from accounts.platforms.http.client import JsonClient
from accounts.platforms.http.errors import ErrorTranslator, PlatformHttpError
from accounts.platforms.http.oauth import PlatformOAuthClient
from accounts.platforms.http.responses import (
    UnreadableAnswer,
    json_object_or_none,
    object_or_empty,
    objects_in,
    one_line,
    required_matching_text,
)
from config.outbound import Response

SITE = "https://www.youtube.com"
CALIFORNIA = ZoneInfo("America/Los_Angeles")
CHANNEL_PAUSE_SECONDS = 4 * 3600.0  # YouTube limits a channel's uploads per 24 hours and does not say when these began

DAILY_QUOTA_REASONS = frozenset({"quotaExceeded", "dailyLimitExceeded", "dailyLimitExceededUnreg"})
CHANNEL_LIMIT_REASONS = frozenset({"uploadLimitExceeded", "uploadRateLimitExceeded"})
RATE_LIMIT_REASONS = frozenset({"rateLimitExceeded", "userRateLimitExceeded"})
ACCOUNT_ERRORS = {
    "youtubeSignupRequired": "The Google account has no YouTube channel.",
    "insufficientPermissions": gettext_noop("The grant does not allow what the service needs at YouTube."),
    "ACCESS_TOKEN_SCOPE_INSUFFICIENT": gettext_noop("The grant does not allow what the service needs at YouTube."),
    "authenticatedUserAccountClosed": gettext_noop("The YouTube account is closed."),
    "authenticatedUserAccountSuspended": gettext_noop("The YouTube account is suspended."),
    "accountClosed": gettext_noop("The YouTube account is closed."),
    "accountSuspended": gettext_noop("The YouTube account is suspended."),
    "channelClosed": gettext_noop("The channel is closed."),
    "channelSuspended": gettext_noop("The channel is suspended."),
}
SERVICE_ERRORS = frozenset({"accessNotConfigured", "SERVICE_DISABLED", "accessTerminated", "keyInvalid"})
CONTENT_ERRORS = re.compile(r"invalid[A-Z]\w*|forbidden\w*|mediaBodyRequired|defaultLanguageNotSet|mediaBytes\w+|\w*TooLarge")
_ID = re.compile(r"[\w-]{1,64}", re.ASCII)


class YouTubeOAuthClient(PlatformOAuthClient):
    """The client of Google's OAuth endpoints, with the operator's OAuth client for YouTube."""

    label = "YouTube"
    authorize_params = {"access_type": "offline", "prompt": "consent", "include_granted_scopes": "true"}
    authenticates_revocation = False


class YouTubeError(PlatformHttpError):
    """An error response of YouTube's API; `code` is Google's reason, such as quotaExceeded."""

    def __init__(self, response: Response) -> None:
        error = object_or_empty((json_object_or_none(response) or {}).get("error"))
        super().__init__(response, code=_reason(error), reason=error.get("message"))


class Api(JsonClient):
    """The client of YouTube's API with an account's access token. Calls raise YouTubeError, NotSent, SentWithoutAnswer."""

    error = YouTubeError

    def is_success(self, response: Response) -> bool:
        """Return whether YouTube's response reports success. Status 308 (send the rest of the upload) counts as success."""
        return super().is_success(response) or response.status == 308


class YouTubeErrorTranslator(ErrorTranslator[YouTubeError]):
    """The translation of YouTube's API errors into platform errors."""

    name = "youtube"
    label = "YouTube"
    error = YouTubeError

    def platform_specific_error(self, error: YouTubeError) -> PlatformError | None:
        """Return the PlatformError for YouTube's errors about quotas, account or project; None for other errors."""
        if error.code in DAILY_QUOTA_REASONS:
            message = gettext_noop("The service's quota at YouTube is used up for today.")
            return RateLimited(message, retry_after=seconds_until_quota_reset())
        if error.code in CHANNEL_LIMIT_REASONS:
            message = gettext_noop("The channel has uploaded as much as YouTube allows.")
            return RateLimited(message, retry_after=CHANNEL_PAUSE_SECONDS)
        if error.code in RATE_LIMIT_REASONS:
            return RateLimited(gettext_noop("YouTube's rate limit is reached."), retry_after=error.retry_after)
        if error.code in ACCOUNT_ERRORS:
            return ReauthRequired(ACCOUNT_ERRORS[error.code])
        if error.code in SERVICE_ERRORS:
            return ConnectionUnavailable(f"Google does not let this service use YouTube's API: {error.reason}")
        return self.transient_error(error) if error.status in (408, 409) else None

    def means_content_rejected(self, error: YouTubeError) -> bool:
        """Return whether YouTube's error means that it refuses the video."""
        return self.is_documented_refusal(error) or (error.status == 400 and error.from_api)

    def is_documented_refusal(self, error: YouTubeError) -> bool:
        """Return whether the reason in YouTube's error is a documented refusal of a video."""
        return error.status == 413 or CONTENT_ERRORS.fullmatch(error.code) is not None


ERRORS = YouTubeErrorTranslator()


def seconds_until_quota_reset() -> float:
    """Return the seconds until midnight in California, when YouTube resets its daily quota, plus one minute."""
    now = timezone.now().astimezone(CALIFORNIA)
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight.timestamp() - now.timestamp() + 60.0


def items_of(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the items in a list response of YouTube's API. Raises UnreadableAnswer."""
    items = answer.get("items", [])
    if "kind" not in answer or not isinstance(items, list):
        raise UnreadableAnswer("The response holds no list.")
    return objects_in(items)


def id_of(resource: Mapping[str, Any]) -> str:
    """Return the id of a channel or a video in a response of YouTube's API. Raises UnreadableAnswer."""
    return required_matching_text(resource, "id", _ID, "id")


def _reason(error: Mapping[str, Any]) -> str:
    """Return the first reason code (such as quotaExceeded) in an error response of YouTube's API."""
    named = [*objects_in(error.get("errors")), *objects_in(error.get("details"))]
    return next(filter(None, (one_line(each.get("reason"))[:60] for each in named)), "")
