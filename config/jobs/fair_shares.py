"""Shares of a worker's places, so that what is slow (a receiver, an account, its server) delays nothing else."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

QUICK_SECONDS = 2.0
REMEMBERED = 1000


@dataclass(frozen=True)
class Shares:
    """How many `places` there are in all, how many of them one holder gets, and how many all slow ones get together."""

    places: int
    quick: int
    slow: int
    slow_together: int


class FairShares:
    """Counts what each holder has in flight.

    A holder is quick when its last attempt took less than QUICK_SECONDS, whatever came of it: then it holds no place for
    long. All others, new ones too, count as slow; together they never hold more than their part of the places, so those
    that are quick always find some.
    """

    def __init__(self, shares: Shares) -> None:
        self.shares = shares
        self._in_flight: Counter[str] = Counter()
        self._quick: set[str] = set()

    @property
    def total(self) -> int:
        return self._in_flight.total()

    @property
    def places(self) -> int:
        """How many attempts may begin."""
        return self.shares.places - self.total

    @property
    def places_for_slow(self) -> int:
        """How many attempts may begin at holders that are not quick."""
        held = sum(count for holder, count in self._in_flight.items() if holder not in self._quick)
        return min(self.places, self.shares.slow_together - held)

    def room_at_quick(self) -> dict[str, int]:
        """How many attempts may begin at each quick holder a quarter of whose places is free.

        Of one that has much to do, all would else be claimed and given back after each attempt, for one more.
        """
        room = {holder: self.shares.quick - self._in_flight[holder] for holder in self._quick if self.has_room(holder)}
        return {holder: free for holder, free in room.items() if 4 * free >= self.shares.quick}

    def left_out(self) -> set[str]:
        """The holders that are passed by when slow ones get their turn: the quick and the full."""
        return self._quick | {holder for holder in self._in_flight if not self.has_room(holder)}

    def has_room(self, holder: str) -> bool:
        return self._in_flight[holder] < (self.shares.quick if holder in self._quick else self.shares.slow)

    def take(self, holder: str) -> bool:
        """Take a place for an attempt; False when the holder has its share."""
        if not self.has_room(holder):
            return False
        self._in_flight[holder] += 1
        return True

    def release(self, holder: str, seconds: float | None) -> None:
        """Give the place back after an attempt of so many seconds, or None when there was none after all."""
        self._in_flight[holder] -= 1
        if not self._in_flight[holder]:
            del self._in_flight[holder]
        if seconds is None:
            return
        if seconds >= QUICK_SECONDS:
            self._quick.discard(holder)
            return
        if len(self._quick) >= REMEMBERED:
            self._quick.clear()  # each is known again after its next attempt
        self._quick.add(holder)

    def is_quick(self, holder: str) -> bool:
        return holder in self._quick
