"""GCRA, the algorithm of all rate limits: a leaky bucket, whose state is one number.

The number is the backlog: the seconds until the bucket is empty. Each event adds `interval` seconds to the backlog, and time
drains it. An event fits if the backlog stays within `capacity` seconds. Limiters store the time when the bucket is empty.

Requests that do not fit are refused (config/api/rate_limit.py); posts that do not fit wait (accounts/services/pace.py).
Redis needs the same rule in Lua, which is the script in config/api/rate_limit.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

ROUNDING_TOLERANCE = 1e-6  # seconds; sums of intervals are not exact


@dataclass(frozen=True)
class LeakyBucket:
    """A rate limit as a leaky bucket: one event each `interval` seconds, in bursts of up to `capacity / interval` events."""

    interval: float
    capacity: float

    def seconds_until_accepted(self, backlog: float) -> float:
        """Return the seconds until the leaky bucket accepts another event; 0 if it accepts one now."""
        return max(backlog + self.interval - self.capacity, 0.0)

    def would_accept_event(self, backlog: float) -> bool:
        """Return whether the leaky bucket accepts another event now."""
        return self.seconds_until_accepted(backlog) <= ROUNDING_TOLERANCE

    def remaining_events(self, backlog: float) -> int:
        """Return how many more events the leaky bucket accepts now."""
        return max(0, math.floor((self.capacity - backlog) / self.interval + ROUNDING_TOLERANCE))
