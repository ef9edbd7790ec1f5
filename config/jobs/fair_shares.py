"""Limits how many jobs a worker runs at once for each account or webhook receiver, so that slow ones delay no others."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

QUICK_SECONDS = 2.0
MAX_QUICK_HOLDERS = 1000


@dataclass(frozen=True)
class ConcurrentJobLimits:
    """The limits on a worker's concurrent jobs: in total, for one quick or one slow account, and for all slow accounts.

    Webhook receivers are limited in the same way as accounts.
    """

    slots: int
    quick: int
    slow: int
    slow_together: int


class FairShares:
    """Counts a worker's running jobs of each account or webhook receiver, and decides whether another job may start.

    A holder is an account or a webhook receiver. It is quick when its last attempt took less than QUICK_SECONDS, whatever
    its result. All others, including new ones, are slow. Slow holders together use only a part of the slots, so quick
    holders always find free ones.
    """

    def __init__(self, shares: ConcurrentJobLimits) -> None:
        self.shares = shares
        self._in_flight: Counter[str] = Counter()
        self._quick: set[str] = set()

    @property
    def running_job_count(self) -> int:
        return self._in_flight.total()

    @property
    def free_job_slots_of_worker(self) -> int:
        """Return how many more jobs the worker may start now within its total limit on concurrent jobs."""
        return self.shares.slots - self.running_job_count

    @property
    def free_slow_job_slots(self) -> int:
        """Return how many more jobs of slow accounts or webhook receivers the worker may start now."""
        held = sum(count for holder, count in self._in_flight.items() if holder not in self._quick)
        return min(self.free_job_slots_of_worker, self.shares.slow_together - held)

    def claimable_slots_by_quick_holder(self) -> dict[str, int]:
        """Return how many more jobs may start for each quick account or webhook receiver with 1/4 of its limit or more free.

        Without this threshold, rows of a busy holder would be claimed and given back after each single attempt.
        """
        room = {holder: self.shares.quick - self._in_flight[holder] for holder in self._quick if self.has_free_slot(holder)}
        return {holder: free for holder, free in room.items() if 4 * free >= self.shares.quick}

    def holders_excluded_from_slow_claims(self) -> set[str]:
        """Return the accounts or receivers to exclude from a search for slow jobs: quick ones, and those at their limit."""
        return self._quick | {holder for holder in self._in_flight if not self.has_free_slot(holder)}

    def has_free_slot(self, holder: str) -> bool:
        return self._in_flight[holder] < (self.shares.quick if holder in self._quick else self.shares.slow)

    def try_take_job_slot(self, holder: str) -> bool:
        """Count a new job of an account or webhook receiver as running; return False if the limit on its jobs is reached."""
        if not self.has_free_slot(holder):
            return False
        self._in_flight[holder] += 1
        return True

    def record_job_end(self, holder: str, seconds: float | None) -> None:
        """Record that a job of an account or webhook receiver ended after `seconds`; None means that it did no work."""
        self._in_flight[holder] -= 1
        if not self._in_flight[holder]:
            del self._in_flight[holder]
        if seconds is None:
            return
        if seconds >= QUICK_SECONDS:
            self._quick.discard(holder)
            return
        if len(self._quick) >= MAX_QUICK_HOLDERS:
            self._quick.clear()  # each is classified again after its next attempt
        self._quick.add(holder)

    def is_quick(self, holder: str) -> bool:
        return holder in self._quick
