"""Each receiver's share of the sender, so that a slow or dead one delays no other."""

from __future__ import annotations

from collections import Counter

from webhooks.sender import IN_FLIGHT

QUICK_SECONDS = 2.0
QUICK_HOST_SHARE = 32
SLOW_HOST_SHARE = 2
SLOW_HOSTS_TOGETHER = IN_FLIGHT // 2
REMEMBERED_HOSTS = 1000


class HostShares:
    """Counts what each host has in flight.

    A host is quick when its last attempt ended within QUICK_SECONDS, whatever came of it: then it holds no place for
    long. All others, new ones too, count as slow; together they never hold more than half of the places, so those that
    are quick always find some.
    """

    def __init__(self) -> None:
        self._in_flight: Counter[str] = Counter()
        self._quick: set[str] = set()

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

    def quick_or_full(self) -> set[str]:
        """The hosts that are left out when slow ones get their turn."""
        return self._quick | {host for host in self._in_flight if not self.has_room(host)}

    def has_room(self, host: str) -> bool:
        return self._in_flight[host] < (QUICK_HOST_SHARE if host in self._quick else SLOW_HOST_SHARE)

    def take(self, host: str) -> bool:
        """Take a place for an attempt; False when the host has its share."""
        if not self.has_room(host):
            return False
        self._in_flight[host] += 1
        return True

    def release(self, host: str, seconds: float) -> None:
        """Give the place back after an attempt of so many seconds."""
        self._in_flight[host] -= 1
        if not self._in_flight[host]:
            del self._in_flight[host]
        if seconds > QUICK_SECONDS:
            self._quick.discard(host)
            return
        if len(self._quick) >= REMEMBERED_HOSTS:
            self._quick.clear()  # each is known again after its next attempt
        self._quick.add(host)
