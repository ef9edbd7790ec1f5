"""OAuth 2.0 authorization at a Mastodon server, where the service registers an OAuth app for each connection.

Tokens do not expire and cannot be renewed. Only the application that a token was issued to can revoke it, so its id and
secret are stored with the token. Servers before 4.3 ignore the PKCE challenge.
Source: docs.joinmastodon.org, methods/apps and methods/oauth.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ConnectionUnavailable, CredentialsRejected
from accounts.platforms.http.oauth import PlatformOAuthClient
from accounts.platforms.http.responses import required_matching_text
from accounts.platforms.mastodon import instance
from accounts.platforms.mastodon.client import ERRORS, MastodonError, ServerClient
from accounts.platforms.types import OAuthAuthorizationRequest

_WORD = re.compile(r"[\x21-\x7e]{1,512}")


class MastodonOAuthClient(PlatformOAuthClient):
    """The client of one Mastodon server's OAuth endpoints, with the app that the service has registered there."""

    label = ERRORS.label
    revoked_statuses = frozenset({200})

    def check_granted_scopes(self, granted: tuple[str, ...], *, has_refresh_token: bool = True) -> None:
        """Skip the check of scopes and refresh token: Mastodon grants all scopes or none, and has no refresh tokens."""


def register_app_and_begin_oauth(
    written: str, *, state: str, redirect_uri: str, client_name: str, client_website: str
) -> OAuthAuthorizationRequest:
    """Register an OAuth app at a Mastodon server, and return the URL at which the owner grants access.

    The server shows `client_name` and `client_website` to the owner, and Mastodon also at each post. Raises
    CredentialsRejected (the address), MastodonError, OutboundError.
    """
    server = ServerClient(instance.instance_url_from_owner_input(written))
    scopes = instance.fetch_scopes_to_request(server)
    registration = {
        "client_name": client_name,
        "redirect_uris": redirect_uri,
        "scopes": " ".join(scopes),
        "website": client_website,
    }
    try:
        registered = server.post("/api/v1/apps", json=registration)
    except MastodonError as error:
        if not ERRORS.means_content_rejected(error) and error.status not in (401, 403):
            raise
        raise CredentialsRejected(
            f"The instance does not let this service register as an application: {error.status} {error.reason}",
            suggested_action=gettext_noop("Ask the operators of the instance, or connect with an access token."),
        ) from error
    stored = {
        "instance": server.address,
        "client_id": required_matching_text(registered, "client_id", _WORD, "client id"),
        "client_secret": required_matching_text(registered, "client_secret", _WORD, "client secret"),
    }
    begun = oauth_client_from_registration(server.address, stored, scopes).authorization_request(state, redirect_uri)
    return OAuthAuthorizationRequest(begun.url, {**stored, "code_verifier": begun.stored["verifier"]})


def exchange_code(code: str, *, redirect_uri: str, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Exchange an OAuth code of a Mastodon server for an access token. Returns the server's JSON.

    Raises CredentialsRejected, Transient, UnreadableAnswer.
    """
    verifier = {"verifier": stored["code_verifier"]}
    try:
        answer = oauth_client_from_registration(stored["instance"], stored).exchange_code(code, redirect_uri, verifier)
    except ConnectionUnavailable as error:
        raise CredentialsRejected(
            gettext_noop("The instance no longer knows the service's application."),
            suggested_action=gettext_noop("Start the connection again."),
        ) from error
    return {**answer, "access_token": required_matching_text(answer, "access_token", _WORD, "access token")}


def oauth_client_from_registration(
    address: str, registered: Mapping[str, Any], scopes: tuple[str, ...] = ()
) -> MastodonOAuthClient:
    """Return the client of a Mastodon server's OAuth endpoints, from the id and secret stored when the app was registered."""
    return MastodonOAuthClient(
        registered["client_id"],
        registered["client_secret"],
        authorize_url=f"{address}/oauth/authorize",
        token_url=f"{address}/oauth/token",
        revoke_url=f"{address}/oauth/revoke",
        scopes=scopes,
        pkce="S256",
    )
