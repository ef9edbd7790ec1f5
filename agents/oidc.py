"""The identity provider's access tokens of people as bearer tokens (RFC 9068).

Checked are the signature, by a key that the provider publishes and an algorithm that we name; iss, aud, exp and nbf; that the
token is an access token and not an ID token; and that a person is behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import jwt
from django.conf import settings

from config.api.caller import Caller
from config.api.errors import ServiceUnavailable, Unauthenticated
from workspaces.services import person_of_token
from workspaces.sign_in.claims import NEVER, Identity, NobodyNamed, auth_time_in, identity_in
from workspaces.sign_in.kept import FAILURE_PAUSE, ProviderAway
from workspaces.sign_in.provider import LEEWAY_SECONDS, provider

NEEDED = ["iss", "sub", "aud", "exp"]
ACCESS_TOKEN_TYPES = ("at+jwt", "application/at+jwt")  # RFC 9068, section 2.1
ID_TOKEN_CLAIMS = ("nonce", "at_hash", "c_hash")  # OpenID Connect Core 1.0, sections 2 and 3.3.2.11
CLIENT_CLAIMS = ("client_id", "azp", "cid", "appid")  # the client's id, as providers name it
# What providers say about people only. `acr` and `sid` are missing here: Keycloak writes them for programs as well.
PERSON_CLAIMS = ("email", "name", "given_name", "family_name", "preferred_username", "auth_time", "amr")


@dataclass(frozen=True)
class AccessToken:
    """What a verified token says. `client`: it was issued to a program; `person`: it says something about a person,
    who authenticated at `authenticated_at`."""

    identity: Identity
    issued_at: int | None
    client: bool
    person: bool
    authenticated_at: datetime | None


def is_taken(token: str) -> bool:
    """Whether this has the form of a JWT, and tokens of a provider are taken here at all."""
    return bool(settings.OIDC_ISSUER and settings.OIDC_AUDIENCE) and token.count(".") == 2


def caller_of(token: str) -> Caller:
    """The user of this token; a person's first one makes the user. Raises Unauthenticated, ServiceUnavailable (no keys)."""
    try:
        read = _read(token)
    except ProviderAway as error:
        raise ServiceUnavailable(
            "The identity provider cannot be asked for its keys.",
            headers={"Retry-After": str(int(FAILURE_PAUSE.total_seconds()))},
        ) from error
    except jwt.ExpiredSignatureError as error:
        raise _refused("This token has expired.") from error
    except jwt.InvalidAudienceError as error:
        raise _refused("This token was issued for another audience.") from error
    except (jwt.PyJWTError, NobodyNamed) as error:
        raise _refused("This token is not one of the identity provider's, or it is not valid.") from error
    if read.client and not settings.OIDC_ALLOW_CLIENT_CREDENTIALS:
        raise Unauthenticated(
            "This token was issued to a program by the client credentials grant; no person is behind it.",
            suggested_action="Use an API key of this service for programs.",
        )
    user = person_of_token(identity=read.identity, issued_at=read.issued_at, make_user=read.person and not read.client)
    if user is None:
        raise _without_user(read)
    return Caller(kind="user", actor_id=user.id, authenticated_at=read.authenticated_at)


def _authenticated_at(claims: Mapping[str, Any]) -> datetime | None:
    """When the person authenticated. A token that does not say so is not asked about it, unless a setting wants that."""
    unknown = NEVER if settings.OIDC_REQUIRE_AUTH_TIME else None
    return auth_time_in(claims) or unknown


def _without_user(read: AccessToken) -> Unauthenticated:
    if read.client:
        return Unauthenticated(
            "This token was issued to a program that has no user here.",
            suggested_action="Ask the operator to run `manage.py add_program`, or use an API key of this service.",
        )
    if read.person:
        return _refused("The user of this token is gone.")
    return Unauthenticated(
        "This token says nothing about a person, and its subject has no user here.",
        suggested_action="Sign in to the dashboard once, then send it again. For programs, use an API key.",
    )


def _read(token: str) -> AccessToken:
    key = provider().key_of(token)
    if key is None:
        raise jwt.InvalidKeyError("no key of the provider has signed this")
    issuer = provider().document["issuer"]
    read = jwt.decode_complete(
        token,
        jwt.PyJWK(key),
        algorithms=[key["alg"]],
        issuer=issuer,
        audience=settings.OIDC_AUDIENCE,
        leeway=LEEWAY_SECONDS,
        options={"require": NEEDED},
    )
    claims = read["payload"]
    _require_access_token(read["header"], claims)
    return AccessToken(
        identity=identity_in(issuer, claims),
        issued_at=claims.get("iat"),
        client=_is_of_client(claims),
        person=any(claims.get(name) for name in PERSON_CLAIMS),
        authenticated_at=_authenticated_at(claims),
    )


def _require_access_token(header: Mapping[str, Any], claims: Mapping[str, Any]) -> None:
    """An ID token is for the client alone, even where the client's id is our audience. Raises Unauthenticated."""
    if any(name in claims for name in ID_TOKEN_CLAIMS):
        raise _refused("This is an ID token; the API takes access tokens only.")
    if str(header.get("typ")).lower() in ACCESS_TOKEN_TYPES:
        return
    scope = settings.OIDC_REQUIRED_SCOPE
    if scope and any(scope in _words(claims.get(name)) for name in ("scope", "scp")):
        return
    needed = "`typ` is not `at+jwt`" + (f", and it does not hold the scope `{scope}`" if scope else "")
    raise _refused(f"This token is not an access token for this service: its {needed}.")


def _words(value: object) -> list[Any]:
    """The scopes of a claim: words in one text (RFC 9068), or a list, as some providers write it."""
    if isinstance(value, str):
        return value.split()
    return value if isinstance(value, list) else []


def _is_of_client(claims: Mapping[str, Any]) -> bool:
    """Whether the token was issued by the client credentials grant: its subject is the client itself (RFC 9068, section 2.2).

    Auth0 says so in `gty`, Microsoft Entra in `idtyp`; Keycloak's subject is the client's service account.
    """
    if claims.get("gty") == "client-credentials" or claims.get("idtyp") == "app":
        return True
    clients = [claims[name] for name in CLIENT_CLAIMS if isinstance(claims.get(name), str)]
    accounts = [f"service-account-{client}".lower() for client in clients]
    return claims["sub"] in clients or claims.get("preferred_username") in accounts


def _refused(message: str) -> Unauthenticated:
    return Unauthenticated(
        message, suggested_action="Get a new access token for this service from the identity provider."
    )
