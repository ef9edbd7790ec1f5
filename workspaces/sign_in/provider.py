"""The discovery document and signing keys of the OpenID provider in OIDC_ISSUER, cached in the process.

Both are fetched through config/outbound when first needed and cached in the process, and are still used for a while when the
provider does not answer. Sources: OpenID Connect
Discovery 1.0, sections 3 and 4; RFC 7517 (key sets); RFC 8725, 3.1 and 3.2 (asymmetric algorithms, fixed by this service).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Generic, TypeVar

import jwt
from django.conf import settings
from django.utils import timezone

from config import outbound
from config.api.errors import RateLimited
from config.api.request_limits import limit_outbound_threads_and_seconds

logger = logging.getLogger(__name__)
SIGNING_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
LEEWAY_SECONDS = 30  # seconds by which the provider's clock may differ from this machine's
FETCH_SECONDS = 5.0
MAX_ISSUER_LENGTH = 255
REQUIRED_DISCOVERY_FIELDS = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
FRESH_FOR = timedelta(hours=1)  # maximum age of a value that is used without fetching
USABLE_FOR = timedelta(hours=24)  # maximum age of a value that is used while fetching fails
RENEWAL_PAUSE = timedelta(seconds=30)  # minimum time between two fetches of `get_renewed_unless_recent`
FAILURE_PAUSE = timedelta(seconds=5)  # pause after a failed fetch
OUTBOUND_LIMIT_KEY = "identity provider"  # in place of a workspace id
FETCH_WAIT_SECONDS = 2.0  # how long a thread waits for another thread's fetch

Value = TypeVar("Value")


class ProviderUnavailable(Exception):
    """The error if the identity provider's configuration or keys are not cached and cannot be fetched."""


class CachedProviderValue(Generic[Value]):
    """A cache of the identity provider's configuration or of its signing keys, for one process.

    `fetch` gets the value with its own time limit, or raises ProviderUnavailable.
    """

    def __init__(self, fetch: Callable[[], Value]) -> None:
        self._fetch = fetch
        self._lock = threading.Lock()
        self._value: Value | None = None
        self._fetched_at = self._failed_at = datetime.fromtimestamp(0, UTC)

    def get(self) -> Value:
        """Return the identity provider's cached configuration or keys; fetches them if necessary.

        Raises ProviderUnavailable, RateLimited.
        """
        if self._is_old(FRESH_FOR):
            self._refresh(wait=self._value is None)
        if self._value is None or self._is_old(USABLE_FOR):
            raise ProviderUnavailable("What the identity provider publishes cannot be fetched at the moment.")
        return self._value

    def get_renewed_unless_recent(self) -> Value:
        """Return the identity provider's configuration or keys, fetched again if they are older than RENEWAL_PAUSE.

        Raises ProviderUnavailable, RateLimited.
        """
        if self._is_old(RENEWAL_PAUSE):
            self._refresh(wait=True)
            if self._is_old(RENEWAL_PAUSE):
                raise ProviderUnavailable("What the identity provider publishes cannot be fetched at the moment.")
        return self.get()

    def _refresh(self, *, wait: bool) -> None:
        """Fetch the identity provider's configuration or keys, unless another thread is fetching them.

        With `wait`, wait for the other thread.
        """
        seen = self._fetched_at
        if timezone.now() - self._failed_at < FAILURE_PAUSE:
            return
        if not self._lock.acquire(timeout=FETCH_WAIT_SECONDS if wait else 0):
            return
        try:
            if self._fetched_at == seen:  # no other thread has fetched it meanwhile
                with limit_outbound_threads_and_seconds(OUTBOUND_LIMIT_KEY, operator_chosen=True):
                    self._value = self._fetch()
                self._fetched_at = timezone.now()
        except RateLimited:
            if wait:  # otherwise the old value is still usable
                raise
        except ProviderUnavailable as error:
            self._failed_at = timezone.now()
            logger.warning("%s", error)
        finally:
            self._lock.release()

    def _is_old(self, age: timedelta) -> bool:
        return self._value is None or timezone.now() - self._fetched_at >= age


class OpenIdProvider:
    """The configuration (discovery document) and signing keys of an OpenID provider.

    Raises ProviderUnavailable if they cannot be fetched.
    """

    def __init__(self, issuer: str) -> None:
        self._issuer = issuer
        self._document = CachedProviderValue(self._fetch_document)
        self._keys = CachedProviderValue(self._fetch_keys)

    @property
    def discovery_document(self) -> dict[str, Any]:
        """Return the identity provider's configuration (its OpenID discovery document).

        Its `issuer` is also that of tokens and users' identities.
        """
        return self._document.get()

    def verification_key_of_token_or_none(self, token: str) -> dict[str, Any] | None:
        """Return the OpenID provider's public key (a JWK with `alg`) that verifies the token; None if no key does.

        An unknown key id makes it fetch the keys again, at most every RENEWAL_PAUSE. Raises jwt.InvalidTokenError.
        """
        header = jwt.get_unverified_header(token)
        if header.get("alg") not in SIGNING_ALGORITHMS:
            return None
        return _find_key(self._keys.get(), header) or _find_key(self._keys.get_renewed_unless_recent(), header)

    def _fetch_document(self) -> dict[str, Any]:
        document = _fetch(f"{self._issuer.rstrip('/')}/.well-known/openid-configuration")
        missing = [name for name in REQUIRED_DISCOVERY_FIELDS if not isinstance(document.get(name), str)]
        if missing:
            raise ProviderUnavailable(f"The identity provider's discovery document lacks {', '.join(missing)}.")
        issuer = document["issuer"]
        if issuer.rstrip("/") != self._issuer.rstrip("/") or len(issuer) > MAX_ISSUER_LENGTH:
            raise ProviderUnavailable(
                "The identity provider's discovery document is that of another issuer than OIDC_ISSUER."
            )
        return document

    def _fetch_keys(self) -> list[dict[str, Any]]:
        keys = _fetch(self.discovery_document["jwks_uri"]).get("keys")
        if not isinstance(keys, list) or not all(isinstance(key, dict) for key in keys):
            raise ProviderUnavailable("The identity provider's key set cannot be read.")
        return keys


@lru_cache(maxsize=4)
def cached_provider_of_issuer(issuer: str) -> OpenIdProvider:
    """Return the OpenID provider of an issuer. This process has one such object for each issuer."""
    return OpenIdProvider(issuer)


def configured_provider() -> OpenIdProvider:
    """Return the OpenID provider that the setting OIDC_ISSUER names."""
    return cached_provider_of_issuer(settings.OIDC_ISSUER)


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
    """Return the identity provider's key for the token's algorithm and key id; None if no key fits, or several do."""
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
