"""How requests wait for the servers behind the library, the bucket and the scanner, so that a hanging one stops no others.

A request holds one of half of the process's threads while it waits for either. After a call to the bucket that failed
slowly, the next ones are refused at once for PAUSE_SECONDS; then a single one tries, and opens the way when it succeeds.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Iterator

from django.conf import settings

from config.api.errors import ServiceUnavailable
from config.api.request_limits import ThreadLimit
from media import storage

BREAKER_PAUSE_SECONDS = 15.0
SLOW_SECONDS = 2.0  # a call that failed after so long has timed out somewhere
backend_threads = ThreadLimit(settings.WEB_THREADS // 2)


@contextlib.contextmanager
def backend_thread() -> Iterator[None]:
    """Hold a thread of the share during the block. Raises ServiceUnavailable when none is free."""
    if not backend_threads.acquire():
        raise ServiceUnavailable(
            "Too many requests are waiting for the file storage or the scanner.", headers={"Retry-After": "5"}
        )
    try:
        yield
    finally:
        backend_threads.release()


class CircuitBreaker:
    """Refuses calls for a while after one has failed slowly (ServiceUnavailable)."""

    def __init__(self) -> None:
        self._refuses_until = 0.0  # time.monotonic(); 0 while calls are let through
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def guard(self) -> Iterator[None]:
        """Make a call in the block. Raises ServiceUnavailable without entering it while calls are refused."""
        began = self._enter()
        try:
            yield
        except ServiceUnavailable:
            if time.monotonic() - began >= SLOW_SECONDS:
                self._refuses_until = time.monotonic() + BREAKER_PAUSE_SECONDS
            raise
        self._refuses_until = 0.0

    def _enter(self) -> float:
        with self._lock:
            now = time.monotonic()
            if now < self._refuses_until:
                wait = math.ceil(self._refuses_until - now)
                raise ServiceUnavailable("The file storage does not answer.", headers={"Retry-After": str(wait)})
            if self._refuses_until:  # the pause is over: this call tries, the others wait for its outcome
                self._refuses_until = now + BREAKER_PAUSE_SECONDS
            return now


bucket_breaker = CircuitBreaker()


@contextlib.contextmanager
def storage_access() -> Iterator[None]:
    """Call the storage in the block, within the bounds above where it is a bucket. Raises ServiceUnavailable."""
    if storage.is_local():
        yield
        return
    with backend_thread(), bucket_breaker.guard():
        yield
