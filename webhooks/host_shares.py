"""Each receiver's share of the sender, so that a slow or dead one delays no other."""

from __future__ import annotations

from collections import Counter

from config.db.fair_shares import REMEMBERED, FairShares, Shares
from webhooks.sender import IN_FLIGHT

SHARES = Shares(places=IN_FLIGHT, quick=32, slow=2, slow_together=IN_FLIGHT // 2)
SILENCES = 5  # attempts in a row that got no answer at all, after which a host counts as silent
SILENT_TOGETHER = IN_FLIGHT // 4


class HostShares(FairShares):
    """Fair shares by host. Silent hosts together hold half of the slow ones' places, so that however many are dead, a
    host that is new or merely slow finds some."""

    def __init__(self) -> None:
        super().__init__(SHARES)
        self._silences: Counter[str] = Counter()

    def left_out(self) -> set[str]:
        """The hosts that are passed by when slow ones get their turn: the quick, the full, and the silent in excess."""
        silent = self._silent()
        return super().left_out() | (set() if self._room_for_silent(silent) else silent)

    def has_room(self, host: str) -> bool:
        return super().has_room(host) and (self._silences[host] < SILENCES or self._room_for_silent(self._silent()))

    def ended(self, host: str, seconds: float, *, silent: bool) -> None:
        """Give the place back after an attempt of so many seconds; `silent`: the host gave no answer."""
        self.release(host, seconds)
        if not silent:
            self._silences.pop(host, None)
            return
        if host not in self._silences and len(self._silences) >= REMEMBERED:
            del self._silences[next(iter(self._silences))]
        self._silences[host] += 1

    def _silent(self) -> set[str]:
        return {host for host, times in self._silences.items() if times >= SILENCES}

    def _room_for_silent(self, silent: set[str]) -> bool:
        return sum(self._in_flight[host] for host in silent) < SILENT_TOGETHER
