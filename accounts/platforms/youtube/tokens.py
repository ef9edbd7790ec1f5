"""OAuth 2.0 at Google for YouTube: the authorization code flow with PKCE, offline access and revocation.

Access tokens last an hour. A refresh token stays the same; Google issues one only with `access_type=offline` and, after the
first consent, only with `prompt=consent`. It ends when the owner revokes the access, after half a year without use, or after
a week while the operator's consent screen is in testing. Owners may grant a part of the scopes. Sources:
developers.google.com/identity/protocols/oauth2/web-server, and its parent on expiration.
"""

from __future__ import annotations

from accounts.platforms.http.oauth import OAuthApplication


class YouTubeApplication(OAuthApplication):
    """The operator's OAuth client at Google for YouTube."""

    label = "YouTube"
    authorize_params = {"access_type": "offline", "prompt": "consent", "include_granted_scopes": "true"}
    authenticates_revocation = False
