"""Authentication and rate limit of the reference API."""

from __future__ import annotations

import hashlib
import hmac
import math
import re
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg import AsyncConnection
from redis.asyncio import Redis

from tests.bench.reference.refusals import RefusedError

PERIOD = 60.0  # seconds
LAST_USED_EVERY = timedelta(seconds=60)
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_TOKEN = re.compile(r"(sps_key_[0-9A-Za-z]{43})([0-9A-Za-z]{6})")
_KEY = """
SELECT k.id, k.token_sha256, k.scopes, k.expires_at, k.revoked_at, k.last_used_at, k.agent_id, w.id, w.status,
  w.retention_tier, w.free_monthly_credit_cents + w.monthly_spend_cap_cents
FROM agents_apikey k JOIN workspaces_workspace w ON w.id = k.workspace_id WHERE k.token_sha256 = %s
"""
_USED = """
UPDATE agents_apikey SET last_used_at = %(now)s
WHERE id = %(key)s AND (last_used_at IS NULL OR last_used_at < %(stale)s)
"""
# The generic cell rate algorithm: the theoretical time of arrival may run one period ahead.
_TAKE = """
local t = redis.call('TIME')
local now = t[1] + t[2] / 1000000
local tat = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now) + tonumber(ARGV[1])
if tat - now > tonumber(ARGV[2]) + 0.000001 then
  return {0, tostring(tat - now - ARGV[1])}
end
redis.call('SET', KEYS[1], string.format('%.6f', tat), 'EX', math.ceil(ARGV[2]))
return {1, tostring(tat - now)}
"""


@dataclass(frozen=True)
class Caller:
    """A workspace's key. `limit_cents` is what the workspace may reserve and spend in a month, None without a limit."""

    key_id: str
    workspace_id: str
    workspace_status: str
    scopes: frozenset[str]
    retention_tier: str
    limit_cents: int | None
    ip: str

    def require(self, *scopes: str) -> None:
        """Raise RefusedError unless the key has one of these scopes."""
        if not self.scopes.intersection(scopes):
            raise RefusedError(403, "SCOPE_MISSING", f"This operation needs the scope {' or '.join(scopes)}.")


class RateLimit:
    """Counts the requests of each key in Redis and allows `per_minute`."""

    def __init__(self, redis: Redis, per_minute: int) -> None:
        self.per_minute = per_minute
        self._take = redis.register_script(_TAKE)

    async def take(self, key: str) -> dict[str, str]:
        """Count one request; return its rate-limit headers. Raises RefusedError."""
        interval = PERIOD / self.per_minute
        allowed, left = await self._take(keys=[f"rate:{self.per_minute}:{key}"], args=[interval, PERIOD])
        backlog = float(left)
        headers = {
            "RateLimit-Limit": str(self.per_minute),
            "RateLimit-Remaining": str(max(0, math.floor((PERIOD - backlog) / interval + 1e-6))),
            "RateLimit-Reset": str(math.ceil(backlog)),
        }
        if not allowed:
            headers["Retry-After"] = str(max(1, math.ceil(backlog + interval - PERIOD)))
            raise RefusedError(429, "RATE_LIMITED", "Too many requests.", headers)
        return headers


async def admit(connection: AsyncConnection[Any], authorization: str | None, ip: str) -> Caller:
    """Return the caller of an Authorization header. Raises RefusedError; agents' keys are not supported."""
    scheme, _, token = (authorization or "").partition(" ")
    match = _TOKEN.fullmatch(token)
    if scheme.lower() != "bearer" or match is None or not hmac.compare_digest(_checksum(match[1]), match[2]):
        raise RefusedError(401, "UNAUTHENTICATED", "This token is not one of this service's.")
    digest = hashlib.sha256(token.encode()).hexdigest()
    row = await (await connection.execute(_KEY, [digest])).fetchone()
    if row is None or not hmac.compare_digest(row[1], digest):
        raise RefusedError(401, "UNAUTHENTICATED", "This token is not one of this service's.")
    key_id, _, scopes, expires_at, revoked_at, last_used_at, agent_id, workspace_id, status, tier, limit = row
    now = datetime.now(UTC)
    if revoked_at or status == "deleted" or agent_id:
        raise RefusedError(401, "API_KEY_REVOKED", "This key was revoked.")
    if expires_at and expires_at <= now:
        raise RefusedError(401, "API_KEY_EXPIRED", "This key has expired.")
    if last_used_at is None or now - last_used_at > LAST_USED_EVERY:
        await connection.execute(_USED, {"now": now, "key": key_id, "stale": now - LAST_USED_EVERY})
    return Caller(key_id, workspace_id, status, frozenset(scopes), tier, limit, ip)


def _checksum(text: str) -> str:
    number, digits = zlib.crc32(text.encode()), ""
    for _ in range(6):
        number, rest = divmod(number, 62)
        digits = _DIGITS[rest] + digits
    return digits
