"""TIDs: keys of Bluesky records that sort by time. The client chooses a key before the first attempt to publish.

A TID is 64 bits as 13 characters: a zero bit, 53 bits of microseconds since 1970, 10 bits of clock id.
Source: atproto.com/specs/tid.
"""

from __future__ import annotations

import secrets
import threading
from datetime import UTC, datetime, timedelta

from django.utils import timezone

ALPHABET = "234567abcdefghijklmnopqrstuvwxyz"  # in ASCII order, so that TIDs sort as their numbers do
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def encode(microseconds: int, clock_id: int) -> str:
    """The TID (a Bluesky record key) of a time in microseconds since 1970, on the clock 0 to 1023."""
    value = microseconds << 10 | clock_id
    return "".join(ALPHABET[value >> shift & 31] for shift in range(60, -1, -5))


class TidClock:
    """Creates TIDs for Bluesky records, each later than the one before, even if the machine's clock steps back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def next(self) -> str:
        """The next TID for a Bluesky record.

        Its clock id is random, so that the processes of one service choose different TIDs.
        """
        now = (timezone.now() - _EPOCH) // timedelta(microseconds=1)
        with self._lock:
            self._last = max(now, self._last + 1)
            return encode(self._last, secrets.randbits(10))
