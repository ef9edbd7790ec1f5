"""Occupies all web threads that may wait for other servers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from config.api import request_limits


@contextmanager
def occupy_all_outbound_threads() -> Iterator[None]:
    """Occupy all threads that may wait for other servers during the block."""
    shares = (request_limits.outbound_thread_limit, request_limits.operator_server_thread_limit)
    names = [f"another workspace {number}" for number in range(100)]
    held = [(share, name) for share in shares for name in names if share.try_acquire_thread(name)]
    try:
        yield
    finally:
        for share, name in held:
            share.release_thread(name)
