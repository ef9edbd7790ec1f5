"""Bluesky login sessions: signing in with an app password, renewing the tokens, and reading who is signed in.

Sessions are created and renewed at the service that the owner named (an entryway such as bsky.social, or the account's own
server). Everything else is sent to the account's own server (PDS), which the DID document of the session names.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accounts.platforms.bluesky.xrpc import Xrpc, XrpcError
from accounts.platforms.http.responses import (
    fetchable_picture_url_or_empty,
    object_or_empty,
    objects_in,
    one_line,
    required_matching_text,
)
from accounts.platforms.types import Identity
from config.outbound import NotSentToForbiddenHost, OutboundError

DID = re.compile(r"did:[a-z]+:[A-Za-z0-9._:%-]{0,190}[A-Za-z0-9._-]")
PROFILE_TIMEOUT_SECONDS = 5.0

_HANDLE = re.compile(r"(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z0-9-]{1,63}")
_MAX_HANDLE_LENGTH = 253
_TOKEN = re.compile(r"[\x21-\x7e]{1,8192}")


@dataclass(frozen=True)
class Session:
    """A Bluesky login session: its access token and refresh token, and the account that is signed in.

    `pds` is the account's server; `active` is false for a deactivated account or one taken down.
    """

    did: str
    handle: str
    active: bool
    access: str
    refresh: str
    pds: str

    def tokens_to_store(self) -> dict[str, str]:
        """Return what is stored of a Bluesky login session: its tokens and the URL of the account's server."""
        return {"access": self.access, "refresh": self.refresh, "pds": self.pds}

    @property
    def opened_by_main_password(self) -> bool:
        """Whether the Bluesky session was opened with the account's main password instead of an app password.

        Only the access token shows the difference: its scope is com.atproto.access for the account's own password, and
        com.atproto.appPass or com.atproto.appPassPrivileged for an app password. False if the token cannot be read.
        """
        return _scope_of(self.access) == "com.atproto.access"


def sign_in(service: str, identifier: str, password: str) -> Session:
    """Sign in to Bluesky by password, with a handle, an e-mail address or a DID. Raises XrpcError, OutboundError."""
    body = {"identifier": identifier, "password": password}
    return _session(Xrpc(service).procedure("com.atproto.server.createSession", body), pds=service)


def renew_session(service: str, refresh_token: str, *, pds: str) -> Session:
    """Renew a Bluesky login session: exchange its refresh token for new tokens.

    `pds` is the account's server unless the response names another one. Raises XrpcError, OutboundError.
    """
    return _session(Xrpc(service, refresh_token).procedure("com.atproto.server.refreshSession"), pds=pds)


def end_session(service: str, refresh_token: str) -> None:
    """End a Bluesky session: revoke its refresh token, even an expired one. Raises XrpcError, OutboundError."""
    Xrpc(service, refresh_token).procedure("com.atproto.server.deleteSession")


def fetch_identity(server: Xrpc, did: str, handle: str) -> Identity:
    """Return the identity of a signed-in Bluesky account, with its name and picture if the profile can be read.

    A server without an AppView has no profiles, so errors leave both empty, except NotSentToForbiddenHost, which is raised.
    """
    try:
        profile = server.query("app.bsky.actor.getProfile", {"actor": did}, timeout=PROFILE_TIMEOUT_SECONDS)
    except NotSentToForbiddenHost:
        raise
    except (OutboundError, XrpcError):
        profile = {}
    return Identity(
        external_id=did,
        handle=handle,
        display_name=one_line(profile.get("displayName")),
        avatar_url=fetchable_picture_url_or_empty(profile.get("avatar")),
        profile_url=f"https://bsky.app/profile/{did}",
    )


def did_and_handle_or_did_twice(answer: Mapping[str, Any]) -> tuple[str, str]:
    """Return the account's DID and handle from a Bluesky server's response about a login session.

    If the handle is invalid, the DID is returned in its place.

    Raises UnreadableAnswer.
    """
    did, handle = required_matching_text(answer, "did", DID, "DID"), answer.get("handle")
    if isinstance(handle, str) and len(handle) <= _MAX_HANDLE_LENGTH and _HANDLE.fullmatch(handle):
        return did, handle
    return did, did


def _session(answer: Mapping[str, Any], *, pds: str) -> Session:
    did, handle = did_and_handle_or_did_twice(answer)
    return Session(
        did=did,
        handle=handle,
        active=answer.get("active") is not False,
        access=required_matching_text(answer, "accessJwt", _TOKEN, "access token"),
        refresh=required_matching_text(answer, "refreshJwt", _TOKEN, "refresh token"),
        pds=_pds_endpoint(object_or_empty(answer.get("didDoc"))) or pds,
    )


def _pds_endpoint(document: Mapping[str, Any]) -> str | None:
    """Return the URL of a Bluesky account's server from the account's DID document; None if the document names no server."""
    for service in objects_in(document.get("service")):
        endpoint = service.get("serviceEndpoint")
        if str(service.get("id")).endswith("#atproto_pds") and isinstance(endpoint, str):
            return endpoint.rstrip("/")
    return None


def _scope_of(token: str) -> Any:
    """Return the scope in a Bluesky session's access token, which is a JWT; None for any other kind of token."""
    claims = token.partition(".")[2].partition(".")[0]
    try:
        return object_or_empty(json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))).get("scope")
    except (ValueError, RecursionError):
        return None
