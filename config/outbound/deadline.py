"""A total deadline for all outbound requests of a block, in addition to the time-out of each."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar

_deadline: ContextVar[float] = ContextVar("outbound_deadline", default=float("inf"))


@contextlib.contextmanager
def total_deadline(seconds: float) -> Iterator[None]:
    """End all outbound requests of the block after `seconds` in total."""
    token = _deadline.set(min(_deadline.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def deadline_within(timeout: float) -> float:
    """Return the time (time.monotonic) at which a request with this time-out must end."""
    return min(_deadline.get(), time.monotonic() + timeout)


def seconds_within(timeout: float) -> float:
    """Return how many seconds a wait with this time-out may last."""
    return max(0.0, deadline_within(timeout) - time.monotonic())
