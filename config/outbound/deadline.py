"""A total deadline for all outbound requests in a block of code, in addition to the time-out of each request."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar

_deadline: ContextVar[float] = ContextVar("outbound_deadline", default=float("inf"))


@contextlib.contextmanager
def total_deadline(seconds: float) -> Iterator[None]:
    """Set a deadline for the block: all its outbound requests together end after `seconds`."""
    token = _deadline.set(min(_deadline.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def deadline_within(timeout: float) -> float:
    """Return the time (time.monotonic) at which an outbound request with this time-out must end."""
    return min(_deadline.get(), time.monotonic() + timeout)


def seconds_within(timeout: float) -> float:
    """Return how many seconds a wait with this time-out may last before the total deadline."""
    return max(0.0, deadline_within(timeout) - time.monotonic())
