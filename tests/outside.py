"""The share of web threads that wait for other servers, when all of it is taken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from config.api import budget


@contextmanager
def no_thread_left() -> Iterator[None]:
    """As many requests wait for other servers as may, for the length of the block."""
    names = (f"another workspace {number}" for number in range(100))
    held = [name for name in names if budget.outside_threads.acquire(name)]
    try:
        yield
    finally:
        for name in held:
            budget.outside_threads.release(name)
