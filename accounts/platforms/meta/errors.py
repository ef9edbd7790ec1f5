"""What Meta's errors mean, by code and subcode: some to all products, the rest to one (`Product.kinds`).

An error that no table knows keeps Meta's codes and words and is told to the operator. Sources: developers.facebook.com,
graph-api/guides/error-handling and instagram-graph-api/reference/error-codes; subcodes of posting are those that
clients report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from accounts.platforms.errors import (
    AccountDisconnected,
    ConnectionUnavailable,
    ContentRejected,
    PlatformError,
    RateLimited,
    TokenExpired,
    Transient,
    unmapped,
)
from accounts.platforms.meta.graph import GraphError
from config.outbound import OutboundError

# stale: the token is refused. lost: the account or a permission of it is. quota, passing: come again later. content: what
# was sent is refused. operator: the app is.
Kind = Literal["stale", "lost", "quota", "passing", "content", "operator"]

UNTOLD_PAUSE_SECONDS = 300.0  # limits count over an hour that goes on; without Meta's word, a part of it

CODES: dict[int, Kind] = {
    1: "passing",
    2: "passing",
    3: "operator",
    4: "quota",
    10: "lost",
    17: "quota",
    32: "quota",
    100: "content",
    101: "operator",
    102: "stale",
    190: "stale",
    341: "quota",
    368: "content",
    506: "content",
    613: "quota",
    **dict.fromkeys(range(200, 300), "lost"),
    **dict.fromkeys(range(80_000, 80_015), "quota"),
}
# Of the operator's own credentials, whatever code they come with.
_OF_THE_APP = re.compile(
    r"appsecret_proof|client[ _](?:secret|id)|validating application|invalid (?:platform )?app\b|app[ _]id",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Product:
    """One of Meta's products as people know it, and the codes and subcodes that only it gives."""

    name: str
    label: str
    kinds: Mapping[int, Kind] = field(default_factory=dict)

    def kind_of(self, error: GraphError) -> Kind | None:
        """What an error is about; None for one that nobody knows."""
        if not error.told:
            return "quota" if error.status == 429 else "passing" if error.status >= 500 else None
        if _OF_THE_APP.search(error.reason):
            return "operator"
        known = self.kinds.get(error.subcode) or self.kinds.get(error.code) or CODES.get(error.code)
        if known in ("stale", "lost", "quota", "operator"):
            return known
        if error.is_transient or error.status >= 500:
            return "passing"
        return known or ("quota" if error.status == 429 else None)

    def fault(self, error: OutboundError | GraphError) -> PlatformError:
        """What this fault of a call means where nothing came of the call."""
        if isinstance(error, OutboundError):
            return Transient(f"{self.label} could not be reached.")
        kind = self.kind_of(error)
        if kind is None:
            unmapped(self.name, error.label)
        return self._known(error, kind) or Transient(f"{self.label} answered with {error.label}: {error.reason}")

    def refusal(self, error: GraphError, what: str) -> PlatformError:
        """As `fault`, where Meta may have refused `what` was sent."""
        kind = self.kind_of(error)
        refused = kind == "content" or (kind is None and (error.told or error.status == 413))
        if not refused:
            return self.fault(error)
        if kind is None:
            unmapped(self.name, error.label)
        return ContentRejected(f"{self.label} does not take {what}: {error.reason} ({error.label})")

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Turn the faults of calls into platform errors, for calls that do no harm when they are repeated."""
        try:
            yield
        except (OutboundError, GraphError) as error:
            raise self.fault(error) from error

    @contextmanager
    def content_faults(self, what: str) -> Iterator[None]:
        """As `faults`, for calls that Meta may refuse for what they carry."""
        try:
            yield
        except OutboundError as error:
            raise self.fault(error) from error
        except GraphError as error:
            raise self.refusal(error, what) from error

    def _known(self, error: GraphError, kind: Kind | None) -> PlatformError | None:
        told = f"{error.reason} ({error.label})"
        if kind == "stale":
            return TokenExpired(f"{self.label} does not accept the access any more: {told}")
        if kind == "lost":
            return AccountDisconnected(
                f"{self.label} does not let this service act for the account: {told}",
                suggested_action="Reconnect the account and grant everything that is asked for, then retry the post.",
            )
        if kind == "quota":
            seconds = error.retry_after or UNTOLD_PAUSE_SECONDS
            return RateLimited(f"{self.label}'s limit is reached: {told}", retry_after=seconds)
        if kind == "operator":
            return ConnectionUnavailable(f"{self.label} does not accept this service's application: {told}")
        return None
