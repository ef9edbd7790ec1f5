"""OAuth 2.0 at TikTok, which calls the client id a client key.

Access tokens last some hours, refresh tokens some months. A renewal may replace the refresh token, after which the old one
no longer works. Only some apps have to use PKCE, and TikTok's S256 challenge for them is in hexadecimal; so it is a setting
of the operator (TIKTOK_PKCE: S256 or hex). Source: developers.tiktok.com, Login Kit for web and for desktop, manage user
access tokens.
"""

from __future__ import annotations

import hashlib

from accounts.platforms.http.oauth import OAuthApplication


class TikTokApplication(OAuthApplication):
    """The operator's OAuth app at TikTok."""

    label = "TikTok"
    scope_separator = ","
    client_id_parameter = "client_key"
    revoked_statuses = frozenset({200, 400, 401})

    def challenge(self, verifier: str) -> str:
        """The PKCE challenge of a verifier for TikTok, in hexadecimal if the operator has set that."""
        return hashlib.sha256(verifier.encode()).hexdigest() if self.pkce == "hex" else super().challenge(verifier)
