"""OAuth errors that oauthlib does not have: of RFC 8707 (resources) and RFC 7591 (registration)."""

from __future__ import annotations

from oauthlib.oauth2 import OAuth2Error


class InvalidTarget(OAuth2Error):
    """The OAuth error for a requested resource that this service does not have, or for which the grant is not valid."""

    error = "invalid_target"
    description = "Ask for one resource: this service's address, or its /mcp."


class InvalidClientMetadata(OAuth2Error):
    """The OAuth error for metadata with which a client cannot be registered."""

    error = "invalid_client_metadata"


class InvalidRegisteredRedirectUri(OAuth2Error):
    """The OAuth error for a client registration whose redirect URIs are missing or not allowed."""

    error = "invalid_redirect_uri"
    description = "Give 1 to 20 redirect_uris, each with https, or with http on localhost, 127.0.0.1 or [::1]."
