"""Caches what the identity provider publishes, and serves it for a while when the provider does not answer."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from django.utils import timezone

from config.api.errors import RateLimited
from config.api.request_limits import outbound_slot

logger = logging.getLogger(__name__)
FRESH_FOR = timedelta(hours=1)  # maximum age of a value that is used without fetching
USABLE_FOR = timedelta(hours=24)  # maximum age of a value that is used while fetching fails
RENEWAL_PAUSE = timedelta(seconds=30)  # minimum time between two fetches of `get_newer`
FAILURE_PAUSE = timedelta(seconds=5)  # pause after a failed fetch
BUDGET_KEY = "identity provider"  # in place of a workspace id
FETCH_WAIT_SECONDS = 2.0  # how long a thread waits for another thread's fetch

Value = TypeVar("Value")


class ProviderUnavailable(Exception):
    """A value that the identity provider publishes is not cached, or too old, and cannot be fetched."""


class CachedValue(Generic[Value]):
    """Caches one value that the identity provider publishes, in this process.

    `fetch` gets the value with its own time limit, or raises ProviderUnavailable.
    """

    def __init__(self, fetch: Callable[[], Value]) -> None:
        self._fetch = fetch
        self._lock = threading.Lock()
        self._value: Value | None = None
        self._fetched_at = self._failed_at = datetime.fromtimestamp(0, UTC)

    def get(self) -> Value:
        """Return the cached value, fetching it if needed. Raises ProviderUnavailable, RateLimited (no thread is free)."""
        if self._is_old(FRESH_FOR):
            self._refresh(wait=self._value is None)
        if self._value is None or self._is_old(USABLE_FOR):
            raise ProviderUnavailable("What the identity provider publishes cannot be fetched at the moment.")
        return self._value

    def get_newer(self) -> Value:
        """Fetch the value again unless that happened in the last RENEWAL_PAUSE. Raises ProviderUnavailable, RateLimited."""
        if self._is_old(RENEWAL_PAUSE):
            self._refresh(wait=True)
            if self._is_old(RENEWAL_PAUSE):
                raise ProviderUnavailable("What the identity provider publishes cannot be fetched at the moment.")
        return self.get()

    def _refresh(self, *, wait: bool) -> None:
        """Fetch the value in one thread at a time. With `wait`, wait for another thread's fetch."""
        seen = self._fetched_at
        if timezone.now() - self._failed_at < FAILURE_PAUSE:
            return
        if not self._lock.acquire(timeout=FETCH_WAIT_SECONDS if wait else 0):
            return
        try:
            if self._fetched_at == seen:  # no other thread has fetched it meanwhile
                with outbound_slot(BUDGET_KEY, operator_chosen=True):
                    self._value = self._fetch()
                self._fetched_at = timezone.now()
        except RateLimited:
            if wait:  # otherwise the old value is still usable
                raise
        except ProviderUnavailable as error:
            self._failed_at = timezone.now()
            logger.warning("%s", error)
        finally:
            self._lock.release()

    def _is_old(self, age: timedelta) -> bool:
        return self._value is None or timezone.now() - self._fetched_at >= age
