"""The rate limit: GCRA (a leaky bucket told as one time stamp) with a burst equal to the limit, for each key or user.

Shared by all processes through Redis. Without Redis, and while it is away, each process counts for itself: the limit is
then looser, but the doors do not stand open.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from dataclasses import dataclass
from functools import lru_cache

import redis
from django.conf import settings

logger = logging.getLogger(__name__)
PERIOD = 60.0
PAUSE_AFTER_FAILURE = 5.0
MAX_LOCAL_ENTRIES = 10_000

# The theoretical arrival time moves on by one emission interval for each request; it may run one period ahead of now.
_GCRA = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local interval = tonumber(ARGV[1])
local period = tonumber(ARGV[2])
local tat = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
if tat + interval - now > period + 0.000001 then
  return {0, tostring(tat - now)}
end
redis.call('SET', KEYS[1], string.format('%.6f', tat + interval), 'EX', math.ceil(period))
return {1, tostring(tat + interval - now)}
"""


@dataclass(frozen=True)
class Verdict:
    """Whether a request may pass, and what its answer tells of the limit."""

    allowed: bool
    limit: int
    backlog: float  # seconds until the bucket is empty

    @property
    def remaining(self) -> int:
        return max(0, math.floor((PERIOD - self.backlog) / (PERIOD / self.limit) + 1e-6))

    @property
    def retry_after(self) -> int:
        return max(1, math.ceil(self.backlog + PERIOD / self.limit - PERIOD))

    def headers(self) -> dict[str, str]:
        told = {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(math.ceil(self.backlog)),
        }
        return told if self.allowed else {**told, "Retry-After": str(self.retry_after)}


class LocalLimiter:
    """GCRA in this process."""

    def __init__(self) -> None:
        self._arrivals: dict[str, float] = {}
        self._lock = threading.Lock()

    def take(self, key: str, limit: int) -> Verdict:
        now, interval = time.monotonic(), PERIOD / limit
        with self._lock:
            if len(self._arrivals) > MAX_LOCAL_ENTRIES:
                self._arrivals = {name: tat for name, tat in self._arrivals.items() if tat > now}
            tat = max(self._arrivals.get(key, 0.0), now)
            if tat + interval - now > PERIOD + 1e-6:
                return Verdict(False, limit, tat - now)
            self._arrivals[key] = tat + interval
        return Verdict(True, limit, tat + interval - now)


class SharedLimiter:
    """GCRA in Redis, one round trip for each request; falls back to this process while Redis is away."""

    def __init__(self, url: str) -> None:
        client = redis.Redis.from_url(url, socket_timeout=0.25, socket_connect_timeout=0.25)
        self._script = client.register_script(_GCRA)
        self._local = LocalLimiter()
        self._silent_until = 0.0

    def take(self, key: str, limit: int) -> Verdict:
        if time.monotonic() < self._silent_until:
            return self._local.take(key, limit)
        try:
            allowed, backlog = self._script(keys=[f"rate:{limit}:{key}"], args=[PERIOD / limit, PERIOD])
        except redis.RedisError as error:
            self._silent_until = time.monotonic() + PAUSE_AFTER_FAILURE
            logger.warning("Redis does not count the rate limit (%s); this process counts for itself.", error)
            return self._local.take(key, limit)
        return Verdict(bool(allowed), limit, float(backlog))


@lru_cache(maxsize=4)
def limiter(url: str) -> SharedLimiter | LocalLimiter:
    """This process's limiter for a Redis address, or its own where that is empty."""
    return SharedLimiter(url) if url else LocalLimiter()


def take(key: str, limit: int | None) -> Verdict:
    """Count one request of this key; `limit` in requests a minute, None for the default."""
    return limiter(settings.REDIS_URL).take(key, limit or settings.RATE_LIMIT_PER_MINUTE)
