"""Limits on calls to the media bucket and the malware scanner, so that a slow call does not block other requests.

At most half of the process's threads may wait for them. After a call to the bucket that failed slowly, further calls are
refused for BREAKER_PAUSE_SECONDS; then a single call tests whether the bucket works again.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Iterator

from django.conf import settings

from config.api.errors import ServiceUnavailable
from config.api.request_limits import WebThreadLimit
from media import storage

BREAKER_PAUSE_SECONDS = 15.0
SLOW_SECONDS = 2.0  # a failed call that took at least this time counts as a timeout
backend_thread_limit = WebThreadLimit(settings.WEB_THREADS // 2)


@contextlib.contextmanager
def limit_threads_waiting_for_backend() -> Iterator[None]:
    """Limit, for the `with` block, how many web threads wait at a time for the media storage or the malware scanner.

    Raises ServiceUnavailable if none is free.
    """
    if not backend_thread_limit.try_acquire_thread():
        raise ServiceUnavailable(
            "Too many requests are waiting for the file storage or the scanner.", headers={"Retry-After": "5"}
        )
    try:
        yield
    finally:
        backend_thread_limit.release_thread()


class CircuitBreaker:
    """The circuit breaker of the media storage: after a call failed slowly, further calls are refused for a while."""

    def __init__(self) -> None:
        self._refuses_until = 0.0  # time.monotonic(); 0 while calls are allowed
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def guard(self) -> Iterator[None]:
        """Limit calls to the media backend: run the `with` block, or raise ServiceUnavailable if the circuit breaker refuses.

        A call that fails slowly opens the circuit breaker.
        """
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
            if self._refuses_until:  # the pause is over: this call tests the bucket, the others are still refused
                self._refuses_until = now + BREAKER_PAUSE_SECONDS
            return now


bucket_breaker = CircuitBreaker()


@contextlib.contextmanager
def limit_bucket_call() -> Iterator[None]:
    """Apply a thread limit and a circuit breaker to the media storage call in the `with` block, if it goes to a bucket.

    Calls for local files have no limits. Raises ServiceUnavailable.
    """
    if storage.is_media_storage_local():
        yield
        return
    with limit_threads_waiting_for_backend(), bucket_breaker.guard():
        yield
