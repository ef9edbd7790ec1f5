"""Discovery document and signing keys of the OpenID provider of OIDC_ISSUER.

Both are fetched through config/outbound when first needed and cached in the process. Sources: OpenID Connect
Discovery 1.0, sections 3 and 4; RFC 7517 (key sets); RFC 8725, 3.1 and 3.2 (asymmetric algorithms, fixed by this service).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jwt
from django.conf import settings

from config import outbound
from workspaces.sign_in.cached_value import CachedValue, ProviderUnavailable

SIGNING_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
LEEWAY_SECONDS = 30  # seconds by which the provider's clock may differ from this machine's
FETCH_SECONDS = 5.0
MAX_ISSUER_LENGTH = 255
REQUIRED_FIELDS = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")


class Provider:
    """One OpenID provider. Every method raises ProviderUnavailable if the provider cannot be reached."""

    def __init__(self, issuer: str) -> None:
        self._issuer = issuer
        self._document = CachedValue(self._fetch_document)
        self._keys = CachedValue(self._fetch_keys)

    @property
    def document(self) -> dict[str, Any]:
        """Return the discovery document. Its `issuer` is the one in tokens and in `User.identity_issuer`."""
        return self._document.get()

    def key_of(self, token: str) -> dict[str, Any] | None:
        """Return the key (a JWK with `alg`) that verifies the token, or None.

        An unknown key id makes it fetch the keys again, at most every RENEWAL_PAUSE. Raises jwt.InvalidTokenError.
        """
        header = jwt.get_unverified_header(token)
        if header.get("alg") not in SIGNING_ALGORITHMS:
            return None
        return _find_key(self._keys.get(), header) or _find_key(self._keys.get_newer(), header)

    def _fetch_document(self) -> dict[str, Any]:
        document = _fetch(f"{self._issuer.rstrip('/')}/.well-known/openid-configuration")
        missing = [name for name in REQUIRED_FIELDS if not isinstance(document.get(name), str)]
        if missing:
            raise ProviderUnavailable(f"The identity provider's discovery document lacks {', '.join(missing)}.")
        issuer = document["issuer"]
        if issuer.rstrip("/") != self._issuer.rstrip("/") or len(issuer) > MAX_ISSUER_LENGTH:
            raise ProviderUnavailable(
                "The identity provider's discovery document is that of another issuer than OIDC_ISSUER."
            )
        return document

    def _fetch_keys(self) -> list[dict[str, Any]]:
        keys = _fetch(self.document["jwks_uri"]).get("keys")
        if not isinstance(keys, list) or not all(isinstance(key, dict) for key in keys):
            raise ProviderUnavailable("The identity provider's key set cannot be read.")
        return keys


@lru_cache(maxsize=4)
def provider_at(issuer: str) -> Provider:
    """Return this process's Provider for an issuer."""
    return Provider(issuer)


def provider() -> Provider:
    """Return the provider of OIDC_ISSUER."""
    return provider_at(settings.OIDC_ISSUER)


def _fetch(url: str) -> dict[str, Any]:
    try:
        answer = outbound.request("GET", url, headers={"Accept": "application/json"}, timeout=FETCH_SECONDS)
        found = answer.json() if answer.status == 200 else None
    except (outbound.OutboundError, ValueError) as error:
        raise ProviderUnavailable(f"The identity provider does not answer: {error}") from error
    if not isinstance(found, dict):
        raise ProviderUnavailable(f"The identity provider answered {answer.status} without a JSON object.")
    return found


def _find_key(keys: list[dict[str, Any]], header: dict[str, Any]) -> dict[str, Any] | None:
    """Return the one key that matches the token's key id and algorithm; without a key id, the only key that fits."""
    algorithm, kid = header["alg"], header.get("kid")
    named = [key for key in keys if kid is None or key.get("kid") == kid]
    meant = [key for key in named if key.get("use", "sig") == "sig" and key.get("alg", algorithm) == algorithm]
    fitting = [{**key, "alg": algorithm} for key in meant if _is_key_for(algorithm, key)]
    return fitting[0] if len(fitting) == 1 else None


def _is_key_for(algorithm: str, key: dict[str, Any]) -> bool:
    try:
        jwt.PyJWK(key, algorithm=algorithm)
    except (jwt.PyJWTError, ValueError, TypeError, KeyError):  # the key has another algorithm or is incomplete
        return False
    return True
