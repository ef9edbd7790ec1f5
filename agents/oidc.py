"""The identity provider's JWTs as bearer tokens (RFC 9068 in spirit: any signed token with our audience will do).

Checked are the signature, by a key that the provider publishes and an algorithm that we name, and iss, aud, exp and nbf.
"""

from __future__ import annotations

import jwt
from django.conf import settings

from config.api.errors import ServiceUnavailable, Unauthenticated
from workspaces.models import User
from workspaces.services import person_of_token
from workspaces.sign_in.claims import Identity, NobodyNamed, identity_in
from workspaces.sign_in.kept import FAILURE_PAUSE, ProviderAway
from workspaces.sign_in.provider import LEEWAY_SECONDS, provider

NEEDED = ["iss", "sub", "aud", "exp"]


def is_taken(token: str) -> bool:
    """Whether this has the form of a JWT, and tokens of a provider are taken here at all."""
    return bool(settings.OIDC_ISSUER and settings.OIDC_AUDIENCE) and token.count(".") == 2


def user_of(token: str) -> User:
    """The person whose token this is, made by the first one. Raises Unauthenticated, ServiceUnavailable (no keys)."""
    try:
        identity, issued_at = _read(token)
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
    user = person_of_token(identity=identity, issued_at=issued_at)
    if user is None:
        raise _refused("The user of this token is gone.")
    return user


def _read(token: str) -> tuple[Identity, int | None]:
    """Who the token is about, and when it was issued (seconds since 1970)."""
    key = provider().key_of(token)
    if key is None:
        raise jwt.InvalidKeyError("no key of the provider has signed this")
    issuer = provider().document["issuer"]
    claims = jwt.decode(
        token,
        jwt.PyJWK(key),
        algorithms=[key["alg"]],
        issuer=issuer,
        audience=settings.OIDC_AUDIENCE,
        leeway=LEEWAY_SECONDS,
        options={"require": NEEDED},
    )
    return identity_in(issuer, claims), claims.get("iat")


def _refused(message: str) -> Unauthenticated:
    return Unauthenticated(
        message, suggested_action="Get a new access token for this service from the identity provider."
    )
