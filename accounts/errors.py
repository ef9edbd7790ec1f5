"""API errors about connecting accounts, and about failed calls to social platforms."""

from __future__ import annotations

from django.utils.translation import gettext_noop

from accounts.platforms import errors as platform_errors
from config.api.errors import ApiError


class CredentialsRejected(ApiError):
    status, code = 422, "CREDENTIALS_REJECTED"
    message = gettext_noop("The platform does not accept these credentials.")
    suggested_action = gettext_noop("Check the credentials and connect again.")


class OAuthStateInvalid(ApiError):
    """API error for an OAuth `state` value that is unknown, used or expired; the error does not tell which."""

    status, code = 422, "OAUTH_STATE_INVALID"
    message = "This state belongs to no connection that was begun here and is still open."
    suggested_action = "Begin again with POST /accounts/connect, and complete within ten minutes."


class ConnectionUnavailable(ApiError):
    """API error for a platform that this service cannot connect, such as one that the operator has not set up."""

    status, code = 503, "CONNECTION_UNAVAILABLE"
    message = gettext_noop("This platform cannot be connected at this service.")
    suggested_action = "GET /capabilities tells which platforms can be connected, and why others cannot."

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message, headers={"Retry-After": "3600"})


class PlatformFault(ApiError):
    status, code = 502, "PLATFORM_ERROR"
    message = gettext_noop("The platform answered with a fault.")
    suggested_action = gettext_noop("Try again in a minute.")
    auto_fixable = True


def platform_error_as_api_error(error: platform_errors.PlatformError) -> ApiError:
    """Convert an error that a platform adapter raised to an API error for the caller, such as CREDENTIALS_REJECTED."""
    if isinstance(error, platform_errors.CredentialsRejected | platform_errors.ReauthRequired):
        return CredentialsRejected(error.message, suggested_action=error.suggested_action)
    if isinstance(error, platform_errors.ConnectionUnavailable):
        return ConnectionUnavailable(error.message)
    return PlatformFault(error.message)
