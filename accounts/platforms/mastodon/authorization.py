"""Access by OAuth: an application is registered at the account's own server for each connection, and ends with it.

Tokens do not run out and there is nothing to refresh them with; only the application that a token was made for can revoke
it, so its id and secret are kept beside the token. The PKCE challenge is sent always; servers before 4.3 ignore it.
Source: docs.joinmastodon.org, methods/apps and methods/oauth.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from accounts.platforms import oauth
from accounts.platforms.errors import ConnectionUnavailable, CredentialsRejected
from accounts.platforms.mastodon import instance
from accounts.platforms.mastodon.client import REFUSALS, MastodonError, Server, UnreadableAnswer
from accounts.platforms.types import Authorization

MAX_LENGTH = 512

_WORD = re.compile(r"[\x21-\x7e]+")


def authorize(written: str, *, state: str, redirect_uri: str, client_name: str, client_website: str) -> Authorization:
    """Register the service at the instance, and say where the owner grants access.

    `client_name` and `client_website` are what the instance shows of the service: to the owner who grants access, and on
    Mastodon at each post. Raises CredentialsRejected (the address), MastodonError, OutboundError.
    """
    server = Server(instance.address(written))
    scope = " ".join(instance.scopes(server))
    described = {
        "client_name": client_name,
        "redirect_uris": redirect_uri,
        "scopes": scope,
        "website": client_website,
    }
    try:
        application = server.post("/api/v1/apps", json=described).one()
    except MastodonError as error:
        if error.status not in REFUSALS | {401, 403}:
            raise
        reason = error.message or "no reason given"
        raise CredentialsRejected(
            f"The instance does not let this service register as an application: {error.status} {reason}",
            suggested_action="Ask the operators of the instance, or connect with an access token.",
        ) from error
    client_id, client_secret = word(application.get("client_id")), word(application.get("client_secret"))
    verifier = oauth.new_verifier()
    asked = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect_uri,
        "scope": scope,
        "state": state,
        "code_challenge": oauth.challenge_of(verifier),
        "code_challenge_method": "S256",
    }
    stored = {
        "instance": server.address,
        "client_id": client_id,
        "client_secret": client_secret,
        "code_verifier": verifier,
    }
    return Authorization(oauth.with_query(f"{server.address}/oauth/authorize", asked), stored)


def exchange(code: str, *, redirect_uri: str, stored: Mapping[str, Any]) -> dict[str, Any]:
    """The server's answer to the code, with its `access_token`. Raises CredentialsRejected, Transient, UnreadableAnswer."""
    form = {
        "code": code,
        "redirect_uri": redirect_uri,
        **{name: stored[name] for name in ("client_id", "client_secret", "code_verifier")},
    }
    try:
        answer = oauth.exchange_code(f"{stored['instance']}/oauth/token", form)
    except ConnectionUnavailable as error:
        raise CredentialsRejected(
            "The instance does not know the service's application any more.",
            suggested_action="Begin the connection again.",
        ) from error
    return {**answer, "access_token": word(answer["access_token"])}


def revoke(server: Server, tokens: Mapping[str, Any]) -> None:
    """End a token that was made for the service's application, which may have ended already.

    The request brings no token of its own: Takahe refuses any request that brings one that has ended. Raises MastodonError,
    OutboundError.
    """
    form = {name: tokens[name] for name in ("client_id", "client_secret")}
    Server(server.address).post("/oauth/revoke", data={**form, "token": server.token})


def word(value: Any) -> str:
    """A token, id or secret from a server. Raises UnreadableAnswer."""
    if not isinstance(value, str) or len(value) > MAX_LENGTH or not _WORD.fullmatch(value):
        raise UnreadableAnswer("The answer holds no token.")
    return value
