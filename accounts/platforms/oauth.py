"""OAuth 2.0 as the platforms speak it: authorization addresses, PKCE, and the exchange and renewal of tokens.

Grants keep `tokens` = {access_token, refresh_token?, …}. Sources: RFC 6749 (4.1, 5.2, 6), RFC 7636 (PKCE, S256).
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.utils import timezone

from accounts.platforms.errors import (
    AccountDisconnected,
    ConnectionUnavailable,
    CredentialsRejected,
    PlatformError,
    RateLimited,
    Transient,
)
from config.outbound import OutboundError, Response, request

TIMEOUT_SECONDS = 20.0
MAX_ANSWER_BYTES = 262_144
# What a token endpoint says of a grant that is used up for good (RFC 6749, 5.2); everything else may pass.
ENDED = frozenset({"invalid_grant"})
OPERATORS_FAULT = frozenset({"invalid_client", "unauthorized_client", "unsupported_grant_type"})


def new_verifier() -> str:
    """A PKCE code verifier: 43 characters."""
    return secrets.token_urlsafe(32)


def challenge_of(verifier: str) -> str:
    """The S256 code challenge of a verifier."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def with_query(address: str, params: Mapping[str, str]) -> str:
    """The address with these parameters, encoded, behind those that it has."""
    return f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(params)}"


def basic(client_id: str, client_secret: str) -> dict[str, str]:
    """The header by which a confidential client names itself (RFC 6749, 2.3.1)."""
    return {"Authorization": "Basic " + base64.b64encode(f"{client_id}:{client_secret}".encode()).decode()}


def exchange_code(address: str, form: Mapping[str, str], *, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Exchange an authorization code for tokens. Raises CredentialsRejected (the code), ConnectionUnavailable, Transient."""
    answer = _post(address, {"grant_type": "authorization_code", **form}, headers)
    content = _content(answer)
    if answer.status != 200 or "access_token" not in content:
        error = _error(answer, content)
        if error in OPERATORS_FAULT:
            raise ConnectionUnavailable(
                "The platform does not know this service: the operator's client id or secret is wrong."
            )
        _raise_passing(answer, error)
        raise CredentialsRejected(
            "The platform does not take this code: it is used, too old, or was not meant for this service.",
            suggested_action="Begin the connection again.",
        )
    return content


def renew(
    address: str,
    form: Mapping[str, str],
    *,
    headers: Mapping[str, str] | None = None,
    ended: frozenset[str] = ENDED,
) -> dict[str, Any]:
    """New tokens for a refresh token. Raises AccountDisconnected only when the platform says that the grant has ended,
    by one of the errors `ended`; Transient."""
    answer = _post(address, {"grant_type": "refresh_token", **form}, headers)
    content = _content(answer)
    if answer.status == 200 and content.get("access_token"):
        return content
    error = _error(answer, content)
    if error in ended:
        raise AccountDisconnected("The platform says that the access to this account has ended.")
    _raise_passing(answer, error)
    raise Transient(f"The platform did not renew the access: {answer.status} {error}".rstrip())


def kept_tokens(before: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """The tokens to keep after a renewal: a refresh token is never replaced by an empty one."""
    refresh = answer.get("refresh_token") or before.get("refresh_token")
    return {
        **before,
        "access_token": str(answer["access_token"]),
        **({"refresh_token": str(refresh)} if refresh else {}),
    }


def expiry_of(answer: Mapping[str, Any]) -> datetime | None:
    """When the access token ends, by `expires_in` seconds."""
    seconds = answer.get("expires_in")
    if isinstance(seconds, str) and seconds.isascii() and seconds.isdecimal():
        seconds = int(seconds[:12])
    return timezone.now() + timedelta(seconds=min(seconds, 10**9)) if isinstance(seconds, int) and seconds > 0 else None


def scopes_of(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """The scopes that were granted, space- or comma-separated."""
    granted = answer.get("scope")
    return tuple(granted.replace(",", " ").split()) if isinstance(granted, str) else ()


def _post(address: str, form: Mapping[str, str], headers: Mapping[str, str] | None) -> Response:
    try:
        return request(
            "POST",
            address,
            data=dict(form),
            headers={"Accept": "application/json", **(headers or {})},
            timeout=TIMEOUT_SECONDS,
            max_bytes=MAX_ANSWER_BYTES,
        )
    except OutboundError as error:
        raise Transient("The platform could not be reached.") from error


def _content(answer: Response) -> dict[str, Any]:
    try:
        content = answer.json()
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _error(answer: Response, content: Mapping[str, Any]) -> str:
    error = content.get("error")
    return error[:100] if isinstance(error, str) and error.isprintable() else ""


def _raise_passing(answer: Response, error: str) -> None:
    fault: PlatformError | None = None
    if answer.status == 429:
        wait = answer.headers.get("Retry-After", "")
        seconds = float(wait[:9]) if wait.isascii() and wait.isdecimal() else None
        fault = RateLimited("The platform's rate limit is reached.", retry_after=seconds)
    elif answer.status >= 500 or error in ("temporarily_unavailable", "server_error"):
        fault = Transient(f"The platform answered {answer.status}.")
    if fault is not None:
        raise fault
