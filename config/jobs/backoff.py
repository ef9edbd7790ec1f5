"""Backoff: how long to wait before the next attempt after some have failed.

The pause follows a schedule, or doubles with each failure. When the server asked for a longer pause (Retry-After), that
one is used. Pauses of a schedule vary by up to 20 % (jitter), so that attempts which failed together do not all come
back at the same moment.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta

JITTER = 0.2


def scheduled_pause(schedule: Sequence[float], failures: int, *, retry_after: float = 0.0) -> timedelta | None:
    """The pause after the attempt that failed as number `failures` (from 1); None when no further attempt is scheduled.

    `schedule` lists the pauses in seconds. `retry_after` is the least pause, in seconds.
    """
    if failures > len(schedule):
        return None
    pause = schedule[failures - 1] * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311
    return timedelta(seconds=max(pause, retry_after))


def doubling_pause(failures: int, *, first: float, longest: float, retry_after: float = 0.0) -> timedelta:
    """The pause after the attempt that failed as number `failures` (from 1): `first` seconds, then twice as long each
    time, up to `longest`. `retry_after` is the least pause, in seconds."""
    doublings = min(failures - 1, 30)  # keeps the power small; `longest` is reached before
    return timedelta(seconds=max(min(first * 2**doublings, longest), retry_after))
