"""The base class of a chaos run's platforms: a stand-in behind a proxy, with connected accounts."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tests.chaos.gate import Gates
from tests.fakes.faults import FaultyServer
from tests.fakes.http_server import Answer, RawAnswer, ReceivedRequest

MARKER = re.compile(rb"chaos\d+n\d{6}")  # letters and digits: no platform reads anything else into it
UNWANTED = "unwanted"  # a word that every platform of a run refuses to publish

Accepted = Counter[tuple[str, str]]
"""How often each (connected account id, marker) was accepted."""


@dataclass(frozen=True)
class Account:
    """One connected account of the service."""

    id: str
    platform: str
    repeatable: bool  # sending again what may be out is harmless there


class Watched(FaultyServer):
    """Mixin that records when each marker arrived and refuses texts with the unwanted word."""

    refusal: Answer

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.first_seen: dict[str, float] = {}  # marker -> unix seconds

    def received(self, request: ReceivedRequest) -> Answer | RawAnswer:
        found = MARKER.search(request.body)
        if found is None:
            return super().received(request)
        if UNWANTED.encode() in request.body:
            return self.refusal
        self.first_seen.setdefault(found.group().decode(), time.time())
        return super().received(request)


class Platform:
    """One platform. Subclasses say how accounts are connected, what was accepted, and which call publishes."""

    name: ClassVar[str]
    label: ClassVar[str]
    publishing: ClassVar[str]  # the stand-in's name of the call that publishes
    others: ClassVar[tuple[str, ...]] = ()  # calls that may be made beside it
    repeatable: ClassVar[bool] = False
    may_limit: ClassVar[bool] = True
    accounts_each: ClassVar[int] = 2  # as many as its pace of posts to one account asks for

    def __init__(self, server: Watched, gates: Gates) -> None:
        self.server = server
        self.gate = gates.before(server.port)
        self.accounts: list[Account] = []

    def settings(self) -> Mapping[str, str]:
        """Return the environment variables that point the service to the stand-in."""
        return {}

    def credentials(self, number: int) -> dict[str, str]:
        """Create an account with this number and return its credentials."""
        raise NotImplementedError

    def texts(self, number: int) -> list[str]:
        """Return all texts published at the account with this number, with duplicates."""
        raise NotImplementedError

    def rate_limited(self, seconds: int) -> Answer:
        """Return the platform's answer to a call over the rate limit."""
        raise NotImplementedError

    def end_access(self) -> bool:
        """End the access tokens that are not quite new, where the platform has any; return whether it did."""
        return False

    def connected(self, account_id: str) -> None:
        """Record an account that the service has connected."""
        self.accounts.append(Account(account_id, self.name, self.repeatable))

    def accepted(self) -> Accepted:
        """Return what the platform accepted."""
        return Counter(
            (account.id, marker_of(text)) for number, account in enumerate(self.accounts) for text in self.texts(number)
        )


def marker_of(text: str) -> str:
    """Return the marker in a published text, or ""."""
    found = MARKER.search(text.encode())
    return found.group().decode() if found else ""
