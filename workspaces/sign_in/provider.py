"""The OpenID provider that OIDC_ISSUER names: what it publishes about itself, and the keys that it signs with.

Both are fetched through config/outbound when they are first needed and kept in the process. Sources: OpenID Connect
Discovery 1.0, sections 3 and 4; RFC 7517 (key sets); RFC 8725, 3.1 and 3.2 (asymmetric algorithms, named by us alone).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jwt
from django.conf import settings

from config import outbound
from workspaces.sign_in.kept import KeptValue, ProviderAway

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
LEEWAY_SECONDS = 30  # by which the provider's clock may differ from ours
FETCH_SECONDS = 5.0
MAX_ISSUER = 255
NEEDED = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")


class Provider:
    """What is known of one provider. Every method raises ProviderAway while that cannot be fetched."""

    def __init__(self, issuer: str) -> None:
        self._issuer = issuer
        self._document = KeptValue(self._fetch_document)
        self._keys = KeptValue(self._fetch_keys)

    @property
    def document(self) -> dict[str, Any]:
        """Its discovery document; `issuer` in it is the name by which tokens and people are known."""
        return self._document.get()

    def key_of(self, token: str) -> dict[str, Any] | None:
        """The key (a JWK with `alg`) by which this token has to be verified, None where there is none.

        A key id that is not known sends us to look for new keys, once in a while. Raises jwt.InvalidTokenError for what
        is no token.
        """
        header = jwt.get_unverified_header(token)
        if header.get("alg") not in ALGORITHMS:
            return None
        return _matching(self._keys.get(), header) or _matching(self._keys.get_newer(), header)

    def _fetch_document(self) -> dict[str, Any]:
        document = _fetch(f"{self._issuer.rstrip('/')}/.well-known/openid-configuration")
        lacking = [name for name in NEEDED if not isinstance(document.get(name), str)]
        if lacking:
            raise ProviderAway(f"The identity provider's discovery document lacks {', '.join(lacking)}.")
        issuer = document["issuer"]
        if issuer.rstrip("/") != self._issuer.rstrip("/") or len(issuer) > MAX_ISSUER:
            raise ProviderAway("The identity provider's discovery document is that of another issuer than OIDC_ISSUER.")
        return document

    def _fetch_keys(self) -> list[dict[str, Any]]:
        keys = _fetch(self.document["jwks_uri"]).get("keys")
        if not isinstance(keys, list) or not all(isinstance(key, dict) for key in keys):
            raise ProviderAway("The identity provider's key set cannot be read.")
        return keys


@lru_cache(maxsize=4)
def known(issuer: str) -> Provider:
    """This process's knowledge of the provider with this address."""
    return Provider(issuer)


def provider() -> Provider:
    """The configured provider."""
    return known(settings.OIDC_ISSUER)


def _fetch(url: str) -> dict[str, Any]:
    try:
        answer = outbound.request("GET", url, headers={"Accept": "application/json"}, timeout=FETCH_SECONDS)
        found = answer.json() if answer.status == 200 else None
    except (outbound.OutboundError, ValueError) as error:
        raise ProviderAway(f"The identity provider does not answer: {error}") from error
    if not isinstance(found, dict):
        raise ProviderAway(f"The identity provider answers {answer.status}, and no JSON object.")
    return found


def _matching(keys: list[dict[str, Any]], header: dict[str, Any]) -> dict[str, Any] | None:
    """The key of this id, for this algorithm; a token without a key id is one for the only key that fits."""
    algorithm, kid = header["alg"], header.get("kid")
    named = [key for key in keys if kid is None or key.get("kid") == kid]
    meant = [key for key in named if key.get("use", "sig") == "sig" and key.get("alg", algorithm) == algorithm]
    fitting = [{**key, "alg": algorithm} for key in meant if _is_key_for(algorithm, key)]
    return fitting[0] if len(fitting) == 1 else None


def _is_key_for(algorithm: str, key: dict[str, Any]) -> bool:
    try:
        jwt.PyJWK(key, algorithm=algorithm)
    except (jwt.PyJWTError, ValueError, TypeError, KeyError):  # of another family, or not whole
        return False
    return True
