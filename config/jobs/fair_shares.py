"""Fair shares of a worker's attempts for each receiver or account, so that slow ones do not delay the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

QUICK_SECONDS = 2.0
REMEMBERED = 1000


@dataclass(frozen=True)
class Shares:
    """The limits of fair shares: attempts at a time in total, for a quick holder, a slow holder, and all slow holders."""

    places: int
    quick: int
    slow: int
    slow_together: int


class FairShares:
    """Counts the current attempts of each holder of a share (a receiver or an account) and decides who may start one.

    A holder is quick when its last attempt took less than QUICK_SECONDS, whatever its result. All others, including new
    ones, are slow. Slow holders together use only a part of the places, so quick holders always find free ones.
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
        """Return how many more attempts may start now under the fair shares' total limit."""
        return self.shares.places - self.total

    @property
    def places_for_slow(self) -> int:
        """Return how many more attempts of slow holders may start now under the limits of fair shares."""
        held = sum(count for holder, count in self._in_flight.items() if holder not in self._quick)
        return min(self.places, self.shares.slow_together - held)

    def free_places_of_quick_holders(self) -> dict[str, int]:
        """Return how many attempts each quick holder may still start, if a quarter of its fair share is free.

        Without this threshold, rows of a busy holder would be claimed and given back after each single attempt.
        """
        room = {
            holder: self.shares.quick - self._in_flight[holder] for holder in self._quick if self.has_free_place(holder)
        }
        return {holder: free for holder, free in room.items() if 4 * free >= self.shares.quick}

    def holders_to_skip(self) -> set[str]:
        """Return the holders to skip when a worker claims rows of slow ones: the quick ones, and those with a full share."""
        return self._quick | {holder for holder in self._in_flight if not self.has_free_place(holder)}

    def has_free_place(self, holder: str) -> bool:
        return self._in_flight[holder] < (self.shares.quick if holder in self._quick else self.shares.slow)

    def take(self, holder: str) -> bool:
        """Count a new attempt in the holder's share; return False if the share has no free place."""
        if not self.has_free_place(holder):
            return False
        self._in_flight[holder] += 1
        return True

    def release(self, holder: str, seconds: float | None) -> None:
        """End an attempt in the holder's share; `seconds` is its duration, or None if no attempt was made."""
        self._in_flight[holder] -= 1
        if not self._in_flight[holder]:
            del self._in_flight[holder]
        if seconds is None:
            return
        if seconds >= QUICK_SECONDS:
            self._quick.discard(holder)
            return
        if len(self._quick) >= REMEMBERED:
            self._quick.clear()  # each is classified again after its next attempt
        self._quick.add(holder)

    def is_quick(self, holder: str) -> bool:
        return holder in self._quick
