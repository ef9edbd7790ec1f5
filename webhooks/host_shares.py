"""Each receiver's share of the sender, so that a slow or dead one delays no other."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from webhooks.sender import IN_FLIGHT

QUICK_SECONDS = 2.0
QUICK_HOST_SHARE = 32
SLOW_HOST_SHARE = 2
SLOW_HOSTS_TOGETHER = IN_FLIGHT // 2
REMEMBERED_HOSTS = 1000
SILENCES = 5  # attempts in a row that got no answer at all, after which a host rests
SHORTEST_REST, LONGEST_REST = 5.0, 60.0  # seconds; each further silence doubles the rest


class HostShares:
    """Counts what each host has in flight, and lets hosts rest that answer nothing.

    A host is quick when its last attempt ended within QUICK_SECONDS, whatever came of it: then it holds no place for
    long. All others, new ones too, count as slow; together they never hold more than half of the places, so those that
    are quick always find some. What is due to a resting host waits and spends no attempt. `now` is in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._in_flight: Counter[str] = Counter()
        self._quick: set[str] = set()
        self._silences: Counter[str] = Counter()
        self._rests_until: dict[str, float] = {}

    @property
    def total(self) -> int:
        return self._in_flight.total()

    @property
    def places(self) -> int:
        """How many attempts may begin."""
        return IN_FLIGHT - self.total

    @property
    def places_for_slow(self) -> int:
        """How many attempts may begin at hosts that are not quick."""
        held = sum(count for host, count in self._in_flight.items() if host not in self._quick)
        return min(self.places, SLOW_HOSTS_TOGETHER - held)

    def room_at_quick(self) -> dict[str, int]:
        """How many attempts may begin at each quick host that is not full."""
        return {host: QUICK_HOST_SHARE - self._in_flight[host] for host in self._quick if self.has_room(host)}

    def left_out(self) -> set[str]:
        """The hosts that are passed by when slow ones get their turn: the quick, the full and the resting."""
        resting = {host for host, until in self._rests_until.items() if until > self._now()}
        return self._quick | resting | {host for host in self._in_flight if not self.has_room(host)}

    def has_room(self, host: str) -> bool:
        if host in self._rests_until:
            return (
                not self._in_flight[host] and self._rests_until[host] <= self._now()
            )  # one attempt shows if it is back
        return self._in_flight[host] < (QUICK_HOST_SHARE if host in self._quick else SLOW_HOST_SHARE)

    def take(self, host: str) -> bool:
        """Take a place for an attempt; False when the host has its share."""
        if not self.has_room(host):
            return False
        self._in_flight[host] += 1
        return True

    def release(self, host: str, seconds: float, *, answered: bool = True) -> None:
        """Give the place back after an attempt of so many seconds."""
        self._in_flight[host] -= 1
        if not self._in_flight[host]:
            del self._in_flight[host]
        self._note_silence(host, answered=answered)
        if seconds > QUICK_SECONDS or host in self._rests_until:
            self._quick.discard(host)
            return
        if len(self._quick) >= REMEMBERED_HOSTS:
            self._quick.clear()  # each is known again after its next attempt
        self._quick.add(host)

    def _note_silence(self, host: str, *, answered: bool) -> None:
        if answered:
            self._silences.pop(host, None)
            self._rests_until.pop(host, None)
            return
        if len(self._silences) >= REMEMBERED_HOSTS:
            self._silences.clear()
            self._rests_until.clear()
        self._silences[host] += 1
        beyond = self._silences[host] - SILENCES
        if beyond >= 0:
            self._rests_until[host] = self._now() + min(SHORTEST_REST * 2.0 ** min(beyond, 10), LONGEST_REST)
