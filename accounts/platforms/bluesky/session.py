"""Sessions: signing in with an app password, renewing the tokens, and whose account it is.

Sessions are made and renewed at the service that the owner named (an entryway such as bsky.social, or a server of one's
own); everything else is asked of the account's own server (PDS), which the DID document of the session names.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accounts.platforms.bluesky.xrpc import UnreadableAnswer, XrpcError, line, procedure, query
from accounts.platforms.types import Identity
from config.outbound import DestinationRefused, OutboundError

DID = re.compile(r"did:[a-z]+:[A-Za-z0-9._:%-]{0,190}[A-Za-z0-9._-]")
PROFILE_TIMEOUT_SECONDS = 5.0
FULL_ACCESS = "com.atproto.access"

_HANDLE = re.compile(r"(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z0-9-]{1,63}")
_MAX_HANDLE_LENGTH = 253
_TOKEN = re.compile(r"[\x21-\x7e]{1,8192}")
_PICTURE = re.compile(r"https://[\x21-\x7e]{1,2000}")


@dataclass(frozen=True)
class Session:
    """An open session. `pds` is where the account lives; `active` is false while it is deactivated or taken down."""

    did: str
    handle: str
    active: bool
    access: str
    refresh: str
    pds: str

    def tokens(self) -> dict[str, str]:
        """What a grant keeps of the session."""
        return {"access": self.access, "refresh": self.refresh, "pds": self.pds}

    @property
    def opened_by_main_password(self) -> bool:
        """Whether the server says that the account's own password opened it, and no app password.

        The answer to a sign-in looks the same for both. The access token says it: its scope is com.atproto.access for the
        account's own password, com.atproto.appPass or com.atproto.appPassPrivileged for an app password. A server whose
        tokens cannot be read says neither.
        """
        return _scope_of(self.access) == FULL_ACCESS


def sign_in(service: str, identifier: str, password: str) -> Session:
    """Open a session. `identifier` is a handle, an e-mail address or a DID. Raises as xrpc.procedure."""
    body = {"identifier": identifier, "password": password}
    answer = procedure(service, "com.atproto.server.createSession", body=body)
    return _session(answer, pds=service)


def renew(service: str, refresh_token: str, *, pds: str) -> Session:
    """Exchange the refresh token for a new pair; `pds` stands where the answer names none. Raises as xrpc.procedure."""
    answer = procedure(service, "com.atproto.server.refreshSession", token=refresh_token)
    return _session(answer, pds=pds)


def end(service: str, refresh_token: str) -> None:
    """Revoke the refresh token; an expired one is taken too. Raises as xrpc.procedure."""
    procedure(service, "com.atproto.server.deleteSession", token=refresh_token)


def identity(pds: str, access_token: str, did: str, handle: str) -> Identity:
    """The account's identity, with name and picture where its server can tell them.

    A server without an AppView has no profiles, so faults there leave both empty; only DestinationRefused is raised.
    """
    try:
        profile = query(
            pds,
            "app.bsky.actor.getProfile",
            params={"actor": did},
            token=access_token,
            timeout=PROFILE_TIMEOUT_SECONDS,
        )
    except DestinationRefused:
        raise
    except (OutboundError, XrpcError):
        profile = {}
    avatar = profile.get("avatar")
    return Identity(
        external_id=did,
        handle=handle,
        display_name=line(profile.get("displayName")),
        avatar_url=avatar if isinstance(avatar, str) and _PICTURE.fullmatch(avatar) else "",
        profile_url=f"https://bsky.app/profile/{did}",
    )


def whose(answer: Mapping[str, Any]) -> tuple[str, str]:
    """The DID and the handle in an answer about a session; the DID stands in for a handle that is none."""
    did, handle = answer.get("did"), answer.get("handle")
    if not isinstance(did, str) or not DID.fullmatch(did):
        raise UnreadableAnswer("The answer names no account.")
    if isinstance(handle, str) and len(handle) <= _MAX_HANDLE_LENGTH and _HANDLE.fullmatch(handle):
        return did, handle
    return did, did


def _session(answer: Mapping[str, Any], *, pds: str) -> Session:
    did, handle = whose(answer)
    access, refresh = answer.get("accessJwt"), answer.get("refreshJwt")
    for token in (access, refresh):
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise UnreadableAnswer("The answer holds no tokens.")
    return Session(
        did=did,
        handle=handle,
        active=answer.get("active") is not False,
        access=str(access),
        refresh=str(refresh),
        pds=_pds_endpoint(answer.get("didDoc")) or pds,
    )


def _pds_endpoint(document: Any) -> str | None:
    """The address of the account's server in a DID document; whether it may be spoken to is seen when it is."""
    services = document.get("service") if isinstance(document, dict) else None
    for service in services if isinstance(services, list) else []:
        if isinstance(service, dict) and str(service.get("id")).endswith("#atproto_pds"):
            endpoint = service.get("serviceEndpoint")
            if isinstance(endpoint, str):
                return endpoint.rstrip("/")
    return None


def _scope_of(token: str) -> Any:
    """The scope claim of a JWT, whose signature only its issuer can check; None for a token of another form."""
    head, _, rest = token.partition(".")
    claims = rest.partition(".")[0]
    if not head or not claims:
        return None
    try:
        told = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    except (ValueError, RecursionError):
        return None
    return told.get("scope") if isinstance(told, dict) else None
