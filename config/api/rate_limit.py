"""The API's rate limits by API key, person and workspace: a request over one of these limits is refused.

Each key and each person has a bucket, and all keys of a workspace share another one. The requests of a whole period, usually
a minute, may come at once.

There are two limiters with one interface, `take(*buckets)`. `RedisRateLimiter` counts in Redis, for all processes.
`InMemoryRateLimiter` counts in this process; it is used without Redis and while Redis is down. The limit then applies to each
process separately.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings

from config.api.errors import RateLimited
from config.api.gcra import LeakyBucket

logger = logging.getLogger(__name__)
PERIOD_SECONDS = 60.0
PAUSE_AFTER_FAILURE = 5.0
MAX_LOCAL_ENTRIES = 10_000

# `InMemoryRateLimiter.count_unless_limited` in Lua: a request is counted in all of its buckets, or in none if one is full.
_GCRA = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local allowed, backlogs = 1, {}
for n, key in ipairs(KEYS) do
  backlogs[n] = math.max(tonumber(redis.call('GET', key) or '0') - now, 0)
  if backlogs[n] + tonumber(ARGV[2 * n - 1]) > tonumber(ARGV[2 * n]) + 0.000001 then
    allowed = 0
  end
end
for n, key in ipairs(KEYS) do
  if allowed == 1 then
    backlogs[n] = backlogs[n] + tonumber(ARGV[2 * n - 1])
    redis.call('SET', key, string.format('%.6f', now + backlogs[n]), 'EX', math.ceil(tonumber(ARGV[2 * n])))
  end
  backlogs[n] = tostring(backlogs[n])
end
return {allowed, backlogs}
"""


@dataclass(frozen=True)
class Bucket:
    """The key and size of a rate limit bucket, such as that of one API key: `limit` requests in `period` seconds."""

    key: str
    limit: int
    period: float = PERIOD_SECONDS

    @property
    def leaky_bucket(self) -> LeakyBucket:
        return LeakyBucket(self.period / self.limit, self.period)


@dataclass(frozen=True)
class RateLimitVerdict:
    """The decision of the rate limit about one request, with the values for the RateLimit headers of the response."""

    allowed: bool
    bucket: Bucket
    backlog: float  # seconds until the bucket is empty

    @property
    def remaining(self) -> int:
        return self.bucket.leaky_bucket.remaining_events(self.backlog)

    @property
    def retry_after(self) -> int:
        return max(1, math.ceil(self.bucket.leaky_bucket.seconds_until_accepted(self.backlog)))

    def headers(self) -> dict[str, str]:
        headers = {
            "RateLimit-Limit": str(self.bucket.limit),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(math.ceil(self.backlog)),
        }
        return headers if self.allowed else {**headers, "Retry-After": str(self.retry_after)}


class InMemoryRateLimiter:
    """The rate limiter that counts requests in the memory of this process."""

    def __init__(self) -> None:
        self._empty_at: dict[str, float] = {}
        self._lock = threading.Lock()

    def count_unless_limited(self, *buckets: Bucket) -> RateLimitVerdict:
        now = time.monotonic()
        with self._lock:
            if len(self._empty_at) > MAX_LOCAL_ENTRIES:
                self._empty_at = {key: moment for key, moment in self._empty_at.items() if moment > now}
            backlogs = [max(self._empty_at.get(bucket.key, 0.0) - now, 0.0) for bucket in buckets]
            allowed = all(
                bucket.leaky_bucket.would_accept_event(backlog) for bucket, backlog in zip(buckets, backlogs, strict=True)
            )
            if allowed:
                backlogs = [backlog + bucket.leaky_bucket.interval for bucket, backlog in zip(buckets, backlogs, strict=True)]
                self._empty_at.update({bucket.key: now + backlog for bucket, backlog in zip(buckets, backlogs, strict=True)})
        return _tightest(allowed, buckets, backlogs)


class RedisRateLimiter:
    """The rate limiter that counts requests in Redis for all processes; while Redis is down, in this process."""

    def __init__(self, url: str) -> None:
        import redis  # noqa: PLC0415 - it loads slowly, and a service without Redis does not need it

        self._redis_error: type[Exception] = redis.RedisError
        client = redis.Redis.from_url(url, socket_timeout=0.25, socket_connect_timeout=0.25)
        self._script = client.register_script(_GCRA)
        self._local = InMemoryRateLimiter()
        self._silent_until = 0.0

    def count_unless_limited(self, *buckets: Bucket) -> RateLimitVerdict:
        if time.monotonic() < self._silent_until:
            return self._local.count_unless_limited(*buckets)
        keys = [f"rate:{bucket.limit}:{bucket.key}" for bucket in buckets]
        try:
            sizes = [size for bucket in buckets for size in (bucket.leaky_bucket.interval, bucket.period)]
            allowed, backlogs = self._script(keys=keys, args=sizes)
        except self._redis_error as error:
            self._silent_until = time.monotonic() + PAUSE_AFTER_FAILURE
            logger.warning("Redis does not count the rate limit (%s); this process counts for itself.", error)
            return self._local.count_unless_limited(*buckets)
        return _tightest(bool(allowed), buckets, list(map(float, backlogs)))


def _tightest(allowed: bool, buckets: Sequence[Bucket], backlogs: Sequence[float]) -> RateLimitVerdict:
    """Return the decision of the strictest rate limit bucket: fewest requests left, and among equals the longest wait."""
    verdicts = [RateLimitVerdict(allowed, bucket, backlog) for bucket, backlog in zip(buckets, backlogs, strict=True)]
    return min(verdicts, key=lambda verdict: (verdict.remaining, -verdict.retry_after))


@lru_cache(maxsize=4)
def rate_limiter_for_redis_url(redis_url: str) -> RedisRateLimiter | InMemoryRateLimiter:
    """Return the rate limiter that counts in the Redis server at this URL, or in this process if the URL is empty."""
    return RedisRateLimiter(redis_url) if redis_url else InMemoryRateLimiter()


def count_or_raise_rate_limited(*buckets: Bucket) -> None:
    """Count one action in each of these rate limit buckets; if one is full, count nothing and raise RateLimited."""
    verdict = count_request_unless_rate_limited(*buckets)
    if not verdict.allowed:
        raise RateLimited(headers=verdict.headers())


def count_request_unless_rate_limited(*buckets: Bucket) -> RateLimitVerdict:
    """Count a request in all these rate limit buckets, or in none if one is full; return whether it is allowed.

    Raises nothing: the caller has to refuse the request.
    """
    return rate_limiter_for_redis_url(settings.REDIS_URL).count_unless_limited(*buckets)
