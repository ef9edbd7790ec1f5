"""Verifies the identity provider's OAuth access tokens (RFC 9068), which callers of the API send as bearer tokens.

Checks the signature with a published key and an allowed algorithm; iss, aud, exp and nbf; that the token is an access token
and not an ID token; and that it belongs to a person or to a program that an operator has added.
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
from workspaces.services import find_or_create_token_user_or_none
from workspaces.sign_in.oidc_claims import (
    UNKNOWN_AUTH_TIME,
    InvalidSubject,
    OidcIdentity,
    auth_time_from_claims,
    identity_from_claims,
)
from workspaces.sign_in.provider import FAILURE_PAUSE, LEEWAY_SECONDS, ProviderUnavailable, configured_provider

REQUIRED_CLAIMS = ["iss", "sub", "aud", "exp"]
ACCESS_TOKEN_TYPES = ("at+jwt", "application/at+jwt")  # RFC 9068, section 2.1
ID_TOKEN_CLAIMS = ("nonce", "at_hash", "c_hash")  # OpenID Connect Core 1.0, sections 2 and 3.3.2.11
CLIENT_CLAIMS = ("client_id", "azp", "cid", "appid")  # OIDC claims that contain the client id, at different providers
# OIDC claims about people only. `acr` and `sid` are not among them: Keycloak also sends them for programs.
PERSON_CLAIMS = ("email", "name", "given_name", "family_name", "preferred_username", "auth_time", "amr")


@dataclass(frozen=True)
class VerifiedAccessToken:
    """The verified content of an OAuth access token that the identity provider issued.

    `is_client`: the token was issued to a program. `names_person`: it has OIDC claims about a person.
    """

    identity: OidcIdentity
    issued_at: int | None
    is_client: bool
    names_person: bool
    authenticated_at: datetime | None


def may_be_provider_token(token: str) -> bool:
    """Return whether a bearer token may come from the identity provider: it looks like a JWT, and OpenID is configured."""
    return bool(settings.OIDC_ISSUER and settings.OIDC_AUDIENCE) and token.count(".") == 2


def authenticate_caller_creating_new_user(token: str) -> Caller:
    """Verify an OIDC access token and return the caller to whom it was issued. A person's first token creates the user.

    Raises Unauthenticated, ServiceUnavailable (the provider's keys cannot be fetched).
    """
    try:
        read = _read(token)
    except ProviderUnavailable as error:
        raise ServiceUnavailable(
            "The identity provider's keys cannot be fetched.",
            headers={"Retry-After": str(int(FAILURE_PAUSE.total_seconds()))},
        ) from error
    except jwt.ExpiredSignatureError as error:
        raise _invalid_token("This token has expired.") from error
    except jwt.InvalidAudienceError as error:
        raise _invalid_token("This token was issued for another audience.") from error
    except (jwt.PyJWTError, InvalidSubject) as error:
        raise _invalid_token("This token is not valid, or not from the identity provider.") from error
    if read.is_client and not settings.OIDC_ALLOW_CLIENT_CREDENTIALS:
        raise Unauthenticated(
            "This token was issued to a program by the client credentials grant, not to a person.",
            suggested_action="For programs, use an API key of this service.",
        )
    user = find_or_create_token_user_or_none(
        identity=read.identity, issued_at=read.issued_at, make_user=read.names_person and not read.is_client
    )
    if user is None:
        raise _unknown_user(read)
    return Caller(kind="user", actor_id=user.id, authenticated_at=read.authenticated_at)


def _authenticated_at(claims: Mapping[str, Any]) -> datetime | None:
    """Return when the access token's user last entered credentials at the identity provider, by the claim `auth_time`.

    Without `auth_time` it is None, or UNKNOWN_AUTH_TIME with OIDC_REQUIRE_AUTH_TIME.
    """
    unknown = UNKNOWN_AUTH_TIME if settings.OIDC_REQUIRE_AUTH_TIME else None
    return auth_time_from_claims(claims) or unknown


def _unknown_user(read: VerifiedAccessToken) -> Unauthenticated:
    if read.is_client:
        return Unauthenticated(
            "This token was issued to a program that has no user here.",
            suggested_action="Ask the operator to run `manage.py add_program`, or use an API key of this service.",
        )
    if read.names_person:
        return _invalid_token("The user of this token was deleted.")
    return Unauthenticated(
        "This token says nothing about a person, and its subject has no user here.",
        suggested_action="Sign in to the dashboard once, then send the token again. For programs, use an API key.",
    )


def _read(token: str) -> VerifiedAccessToken:
    key = configured_provider().verification_key_of_token_or_none(token)
    if key is None:
        raise jwt.InvalidKeyError("no key of the provider has signed this token")
    issuer = configured_provider().discovery_document["issuer"]
    read = jwt.decode_complete(
        token,
        jwt.PyJWK(key),
        algorithms=[key["alg"]],
        issuer=issuer,
        audience=settings.OIDC_AUDIENCE,
        leeway=LEEWAY_SECONDS,
        options={"require": REQUIRED_CLAIMS},
    )
    claims = read["payload"]
    _require_access_token(read["header"], claims)
    return VerifiedAccessToken(
        identity=identity_from_claims(issuer, claims),
        issued_at=claims.get("iat"),
        is_client=_is_client_credentials(claims),
        names_person=any(claims.get(name) for name in PERSON_CLAIMS),
        authenticated_at=_authenticated_at(claims),
    )


def _require_access_token(header: Mapping[str, Any], claims: Mapping[str, Any]) -> None:
    """Raise Unauthenticated unless the identity provider's token is an access token. ID tokens may not be sent to the API."""
    if any(name in claims for name in ID_TOKEN_CLAIMS):
        raise _invalid_token("This is an ID token. The API accepts access tokens only.")
    if str(header.get("typ")).lower() in ACCESS_TOKEN_TYPES:
        return
    scope = settings.OIDC_REQUIRED_SCOPE
    if scope and any(scope in _words(claims.get(name)) for name in ("scope", "scp")):
        return
    reason = "`typ` is not `at+jwt`" + (f", and it does not have the scope `{scope}`" if scope else "")
    raise _invalid_token(f"This token is not an access token for this service: its {reason}.")


def _words(value: object) -> list[Any]:
    """Return the scopes in a claim of the identity provider's token; the claim is a list or a text with spaces."""
    if isinstance(value, str):
        return value.split()
    return value if isinstance(value, list) else []


def _is_client_credentials(claims: Mapping[str, Any]) -> bool:
    """Return whether the identity provider issued an access token to a program and not to a person (RFC 9068, 2.2).

    Auth0 marks it in `gty`, Microsoft Entra in `idtyp`; Keycloak's subject is the client's service account.
    """
    if claims.get("gty") == "client-credentials" or claims.get("idtyp") == "app":
        return True
    clients = [claims[name] for name in CLIENT_CLAIMS if isinstance(claims.get(name), str)]
    accounts = [f"service-account-{client}".lower() for client in clients]
    return claims["sub"] in clients or claims.get("preferred_username") in accounts


def _invalid_token(message: str) -> Unauthenticated:
    return Unauthenticated(message, suggested_action="Get a new access token for this service from the identity provider.")
