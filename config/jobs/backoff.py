"""How long a failed job waits before it is tried again (backoff).

The pause follows a schedule, or doubles with each failure. If the server asks for a longer pause (Retry-After), that pause
is used. Pauses of a schedule vary by up to 20 % (jitter), so that attempts which failed together are not all repeated at
the same moment.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta

JITTER = 0.2


def retry_pause_from_list_or_none(schedule: Sequence[float], failures: int, *, retry_after: float = 0.0) -> timedelta | None:
    """Return the backoff after a number of failures from a list of pauses; None if the job is not tried again.

    `schedule` lists the pauses in seconds. `retry_after` is the minimum pause, in seconds.
    """
    if failures > len(schedule):
        return None
    pause = schedule[failures - 1] * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311
    return timedelta(seconds=max(pause, retry_after))


def exponential_retry_pause(failures: int, *, first: float, longest: float, retry_after: float = 0.0) -> timedelta:
    """Return the exponential backoff after a number of failures: `first` seconds, doubled each time up to `longest`.

    It has no jitter. `retry_after` is the minimum pause, in seconds.
    """
    doublings = min(failures - 1, 30)  # limits the size of the power; `longest` is reached earlier
    return timedelta(seconds=max(min(first * 2**doublings, longest), retry_after))
