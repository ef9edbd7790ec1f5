"""OAuth 2.0 at Pinterest: the authorization code flow, refresh tokens that are replaced at each use, and revocation.

Access tokens last 30 days, refresh tokens 60 days from each renewal. Sources: github.com/pinterest/api-description 5.23
(oauth/token), and reports of API clients for error 283, which means an unknown grant or an unknown app.
"""

from __future__ import annotations

from accounts.platforms.http.oauth import OAuthApplication
from accounts.platforms.pinterest.client import PinterestError
from config.outbound import Response

INVALID_GRANT = "283"


class PinterestApplication(OAuthApplication):
    """The operator's OAuth app at Pinterest."""

    label = "Pinterest"
    scope_separator = ","
    basic = True
    exchange_params = {"continuous_refresh": "true"}
    revoked_statuses = frozenset({200, 204, 400, 404})

    def error_of(self, response: Response) -> str:
        """The OAuth error in a response of the token endpoint, which reports errors in the format of Pinterest's API."""
        error = PinterestError(response)
        if error.status == 401 or (error.status == 400 and error.code == INVALID_GRANT):
            is_about_app = "application" in error.reason.lower() or "client" in error.reason.lower()
            return "invalid_client" if is_about_app or error.code != INVALID_GRANT else "invalid_grant"
        return error.code
