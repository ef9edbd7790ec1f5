"""OAuth 2.0 at X: the authorization code flow with PKCE, refresh tokens that can be used once, and revocation.

Access tokens last two hours. Source: docs.x.com, OAuth 2.0 Authorization Code Flow with PKCE.
"""

from __future__ import annotations

from accounts.platforms.http.oauth import GRANT_ENDED, OAuthApplication


class XApplication(OAuthApplication):
    """The operator's OAuth app at X."""

    label = "X"
    basic = True
    # X reports an unknown refresh token as an invalid request.
    grant_ended = GRANT_ENDED | {"invalid_request"}
