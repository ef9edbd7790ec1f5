"""Tokens of the Bluesky stand-in for one method of another service (com.atproto.server.getServiceAuth).

Not thread-safe: the caller holds the stand-in's lock. Source: the reference implementation of the method.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass

from tests.fakes.xrpc import XrpcError, invalid_request

LONGEST, LONGEST_WITHOUT_METHOD, DEFAULT = 3600, 60, 60  # seconds


@dataclass(frozen=True)
class ServiceToken:
    """A token of the account `did` for one method of the service `audience`, until it expires."""

    did: str
    audience: str
    method: str | None
    expires: int


class ServiceTokens:
    """The service tokens that the Bluesky stand-in has issued."""

    def __init__(self) -> None:
        self._tokens: dict[str, ServiceToken] = {}
        self._serial = itertools.count(1)

    def issue(self, did: str, query: Mapping[str, str]) -> str:
        """Issue a service token for a Bluesky account, for the audience and method in the query. Raises XrpcError."""
        if "aud" not in query:
            raise invalid_request('Invalid com.atproto.server.getServiceAuth params: Missing required key "aud"')
        now, method = int(time.time()), query.get("lxm")
        expires = int(query.get("exp", now + DEFAULT))
        if expires < now:
            raise XrpcError(400, "BadExpiration", "expiration is in past")
        if expires - now > (LONGEST if method else LONGEST_WITHOUT_METHOD):
            words = "cannot request a token with an expiration more than an hour in the future"
            raise XrpcError(400, "BadExpiration", words)
        token = f"service-token-{next(self._serial)}"
        self._tokens[token] = ServiceToken(did, query["aud"], method, expires)
        return token

    def holder(self, token: str, *, audience: str, method: str) -> str:
        """The Bluesky account of a token for this service and this method. Raises XrpcError."""
        issued = self._tokens.get(token)
        if issued is None or issued.expires < time.time():
            raise XrpcError(401, "BadJwt", "jwt is expired or unknown")
        if issued.audience != audience:
            raise XrpcError(401, "BadJwtAudience", f"jwt audience does not match service did {audience}")
        if issued.method != method:
            raise XrpcError(401, "BadJwtLexiconMethod", f'bad jwt lexicon method ("lxm"). must match: {method}')
        return issued.did
