"""GCRA, the algorithm of all rate limits: a leaky bucket whose state is one number.

The number is the backlog: the seconds until the bucket is empty. Each event adds `interval` seconds to it, and time drains
it. An event fits while the backlog stays within `capacity` seconds. Stored is the moment when the bucket will be empty.

Requests that do not fit are refused (config/api/rate_limit.py); posts that do not fit wait (accounts/services/pace.py).
Redis needs the same rule in Lua, which is the script in config/api/rate_limit.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

ROUNDING = 1e-6  # seconds; sums of intervals are not exact


@dataclass(frozen=True)
class LeakyBucket:
    """A limit of one event each `interval` seconds; `capacity` seconds' worth of them may come at once."""

    interval: float
    capacity: float

    def wait(self, backlog: float) -> float:
        """Seconds until another event fits; 0 when it fits now."""
        return max(backlog + self.interval - self.capacity, 0.0)

    def fits(self, backlog: float) -> bool:
        """Whether another event fits now."""
        return self.wait(backlog) <= ROUNDING

    def remaining(self, backlog: float) -> int:
        """How many more events fit now."""
        return max(0, math.floor((self.capacity - backlog) / self.interval + ROUNDING))
