"""The clients of Pinterest's API v5 and of its OAuth endpoints, and the translation of Pinterest's errors.

Access tokens last 30 days; refresh tokens are replaced at each use and last 60 days from then. Errors are `{"code": number,
"message": text}`. Sources: github.com/pinterest/api-description 5.23, and reports of API clients for the codes and wording of
refusals.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ConnectionUnavailable, PlatformError, ReauthRequired
from accounts.platforms.http.client import JsonClient
from accounts.platforms.http.errors import ErrorTranslator, PlatformHttpError
from accounts.platforms.http.oauth import PlatformOAuthClient
from accounts.platforms.http.responses import json_object_or_none, required_matching_text
from config.outbound import Response

SITE = "https://www.pinterest.com"
INVALID_GRANT = "283"  # an unknown grant, or an unknown app
_ACCOUNT_CLOSED = re.compile(r"\b(?:account|user)\b.{0,40}\b(?:suspended|deactivated|banned|locked)", re.IGNORECASE)
_ID = re.compile(r"[0-9]{1,32}")


class PinterestError(PlatformHttpError):
    """An error response of Pinterest; `code` is Pinterest's error number, empty if for example a proxy answered instead."""

    def __init__(self, response: Response) -> None:
        content = json_object_or_none(response) or {}
        number = content.get("code")
        code = str(number) if type(number) is int else ""
        super().__init__(response, code=code, reason=content.get("message"), reset_headers=("x-ratelimit-reset",))
        self.from_api = bool(code)


class PinterestOAuthClient(PlatformOAuthClient):
    """The client of Pinterest's OAuth endpoints, with the operator's app."""

    label = "Pinterest"
    scope_separator = ","
    basic = True
    exchange_params = {"continuous_refresh": "true"}
    revoked_statuses = frozenset({200, 204, 400, 404})

    def oauth_error_code(self, response: Response) -> str:
        """Return the OAuth name of an error (such as `invalid_grant`) in Pinterest's response to a token request.

        Pinterest answers in the format of the API's other errors.
        """
        error = PinterestError(response)
        if error.status == 401 or (error.status == 400 and error.code == INVALID_GRANT):
            is_about_app = "application" in error.reason.lower() or "client" in error.reason.lower()
            return "invalid_client" if is_about_app or error.code != INVALID_GRANT else "invalid_grant"
        return error.code


class Api(JsonClient):
    """The client of Pinterest's API with an account's token. Calls raise PinterestError, NotSent, SentWithoutAnswer."""

    error = PinterestError
    max_bytes = 2_000_000  # a page of boards
    requires_objects = True


class PinterestErrorTranslator(ErrorTranslator[PinterestError]):
    """The translation of Pinterest's API errors into exceptions of type PlatformError."""

    name = "pinterest"
    label = "Pinterest"
    error = PinterestError
    documented_codes = frozenset({"", "1", "29", "40"})  # no code, a wrong parameter, not permitted, not found

    def platform_specific_error(self, error: PinterestError) -> PlatformError | None:
        """Return the exception to raise for a Pinterest error about the operator's app or the account; otherwise None."""
        if error.status in (401, 403) and "trial access" in error.reason.lower():
            return ConnectionUnavailable(
                f"Pinterest gives this service trial access only: {error.reason}",
                suggested_action=gettext_noop(
                    "Ask the operator of the service to get standard access for its app at Pinterest."
                ),
            )
        if error.status == 403 and _ACCOUNT_CLOSED.search(error.reason):
            return ReauthRequired(f"Pinterest refuses the account: {error.reason}")
        return None


ERRORS = PinterestErrorTranslator()


def id_of(entity: Mapping[str, Any], name: str = "id") -> str:
    """Return the id of a pin, a board, an account or an upload in a Pinterest response. Raises UnreadableAnswer."""
    return required_matching_text(entity, name, _ID, "id")
