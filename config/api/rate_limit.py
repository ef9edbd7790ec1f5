"""The rate limit: GCRA (a leaky bucket stored as one time stamp) with a burst equal to the limit.

Each key and each person has a bucket, and all keys of a workspace share one more.

Shared by all processes through Redis. Without Redis, and while it is away, each process counts for itself: the limit is
then looser, but the doors do not stand open.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import redis
from django.conf import settings

logger = logging.getLogger(__name__)
PERIOD = 60.0
PAUSE_AFTER_FAILURE = 5.0
MAX_LOCAL_ENTRIES = 10_000

# The theoretical arrival time moves on by one emission interval for each request; it may run one period ahead of now.
# A request takes from all of its buckets, or from none of them when one is full.
_GCRA = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local period = tonumber(ARGV[1])
local allowed, backlogs = 1, {}
for n, key in ipairs(KEYS) do
  backlogs[n] = math.max(tonumber(redis.call('GET', key) or '0') - now, 0)
  if backlogs[n] + tonumber(ARGV[n + 1]) > period + 0.000001 then
    allowed = 0
  end
end
for n, key in ipairs(KEYS) do
  if allowed == 1 then
    backlogs[n] = backlogs[n] + tonumber(ARGV[n + 1])
    redis.call('SET', key, string.format('%.6f', now + backlogs[n]), 'EX', math.ceil(period))
  end
  backlogs[n] = tostring(backlogs[n])
end
return {allowed, backlogs}
"""


@dataclass(frozen=True)
class Bucket:
    """What requests are counted in: the key's or person's own, or one that several share; `limit` a minute."""

    key: str
    limit: int

    @property
    def interval(self) -> float:
        return PERIOD / self.limit


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

    def take(self, *buckets: Bucket) -> Verdict:
        now = time.monotonic()
        with self._lock:
            if len(self._arrivals) > MAX_LOCAL_ENTRIES:
                self._arrivals = {name: tat for name, tat in self._arrivals.items() if tat > now}
            backlogs = [max(self._arrivals.get(bucket.key, 0.0) - now, 0.0) for bucket in buckets]
            ahead = [backlog + bucket.interval for backlog, bucket in zip(backlogs, buckets, strict=True)]
            allowed = max(ahead) <= PERIOD + 1e-6
            if allowed:
                self._arrivals.update({bucket.key: now + tat for bucket, tat in zip(buckets, ahead, strict=True)})
        return _tightest(allowed, buckets, ahead if allowed else backlogs)


class SharedLimiter:
    """GCRA in Redis, one round trip for each request; falls back to this process while Redis is away."""

    def __init__(self, url: str) -> None:
        client = redis.Redis.from_url(url, socket_timeout=0.25, socket_connect_timeout=0.25)
        self._script = client.register_script(_GCRA)
        self._local = LocalLimiter()
        self._silent_until = 0.0

    def take(self, *buckets: Bucket) -> Verdict:
        if time.monotonic() < self._silent_until:
            return self._local.take(*buckets)
        keys = [f"rate:{bucket.limit}:{bucket.key}" for bucket in buckets]
        try:
            allowed, backlogs = self._script(keys=keys, args=[PERIOD, *(bucket.interval for bucket in buckets)])
        except redis.RedisError as error:
            self._silent_until = time.monotonic() + PAUSE_AFTER_FAILURE
            logger.warning("Redis does not count the rate limit (%s); this process counts for itself.", error)
            return self._local.take(*buckets)
        return _tightest(bool(allowed), buckets, list(map(float, backlogs)))


def _tightest(allowed: bool, buckets: Sequence[Bucket], backlogs: Sequence[float]) -> Verdict:
    """The verdict by the bucket that has the fewest requests left; of several, by the one that takes longest to have one."""
    if len(buckets) == 1:
        return Verdict(allowed, buckets[0].limit, backlogs[0])
    verdicts = [Verdict(allowed, bucket.limit, backlog) for bucket, backlog in zip(buckets, backlogs, strict=True)]
    return min(verdicts, key=lambda verdict: (verdict.remaining, -verdict.retry_after))


@lru_cache(maxsize=4)
def limiter(url: str) -> SharedLimiter | LocalLimiter:
    """This process's limiter for a Redis address, or its own where that is empty."""
    return SharedLimiter(url) if url else LocalLimiter()


def take(*buckets: Bucket) -> Verdict:
    """Count one request in each of these buckets. When one is full it is refused, and counted in none."""
    return limiter(settings.REDIS_URL).take(*buckets)
