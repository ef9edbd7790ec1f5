"""A common deadline for all outbound requests in a block of code, in addition to the time-out of each request."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar

_deadline: ContextVar[float] = ContextVar("outbound_deadline", default=float("inf"))


@contextlib.contextmanager
def total_deadline(seconds: float) -> Iterator[None]:
    """Return a context manager that ends all outbound requests in its block after `seconds` in total."""
    token = _deadline.set(min(_deadline.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def earlier_of_deadline_and_timeout(timeout: float) -> float:
    """Return when an outbound request must end (time.monotonic): by the common deadline, or its time-out if earlier."""
    return min(_deadline.get(), time.monotonic() + timeout)


def timeout_within_deadline(timeout: float) -> float:
    """Return how many seconds an outbound request may wait: its time-out, or less if a `total_deadline` comes first."""
    return max(0.0, earlier_of_deadline_and_timeout(timeout) - time.monotonic())
