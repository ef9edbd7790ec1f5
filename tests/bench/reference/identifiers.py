"""Creates ids as the service does: a prefix, `_`, and a UUIDv7 in 26 characters of Crockford's base32."""

from __future__ import annotations

import secrets
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = [high + low for high in _ALPHABET for low in _ALPHABET]


def new_id(prefix: str) -> str:
    """Create an id such as `pgr_01jd…` for the prefix `pgr`."""
    random = secrets.randbits(74)
    value = time.time_ns() // 1_000_000 << 80 | 7 << 76 | (random >> 62) << 64 | 2 << 62 | random & (1 << 62) - 1
    return f"{prefix}_" + "".join([_PAIRS[value >> shift & 1023] for shift in range(120, -1, -10)])
