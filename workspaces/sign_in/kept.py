"""What the provider publishes: fetched when it is asked for, kept, and used on for a while when the provider is away."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from django.utils import timezone

from config.api.budget import outside
from config.api.errors import RateLimited

logger = logging.getLogger(__name__)
FRESH = timedelta(hours=1)  # so long nobody asks whether it has changed
USABLE = timedelta(hours=24)  # so long it serves while it cannot be fetched
RENEWAL_PAUSE = timedelta(seconds=30)  # between fetches that callers cause by showing that it is out of date
FAILURE_PAUSE = timedelta(seconds=5)  # a provider that is away holds one request in so many seconds
IDENTITY_PROVIDER = "identity provider"  # in place of a workspace's id
WAIT_SECONDS = 2.0  # for a fetch that another thread has begun

Value = TypeVar("Value")


class ProviderAway(Exception):
    """Something of the provider's is needed that is not kept (or not any more), and it cannot be fetched."""


class KeptValue(Generic[Value]):
    """One published value in this process. `fetch` gets it, within its own time limit, or raises ProviderAway."""

    def __init__(self, fetch: Callable[[], Value]) -> None:
        self._fetch = fetch
        self._lock = threading.Lock()
        self._value: Value | None = None
        self._fetched_at = self._failed_at = datetime.fromtimestamp(0, UTC)

    def get(self) -> Value:
        """The value. Raises ProviderAway, RateLimited (there is none yet, and too many requests wait for other servers)."""
        if self._is_old(FRESH):
            self._renew(wait=self._value is None)
        if self._value is None or self._is_old(USABLE):
            raise ProviderAway("What the identity provider publishes cannot be fetched at the moment.")
        return self._value

    def get_newer(self) -> Value:
        """The value, fetched again unless that was done a moment ago. Raises ProviderAway, RateLimited:
        what is kept is known to be old."""
        if self._is_old(RENEWAL_PAUSE):
            self._renew(wait=True)
            if self._is_old(RENEWAL_PAUSE):
                raise ProviderAway("What the identity provider publishes cannot be fetched at the moment.")
        return self.get()

    def _renew(self, *, wait: bool) -> None:
        """Fetch it, in one thread at a time. Whoever has a usable value waits for nobody."""
        seen = self._fetched_at
        if timezone.now() - self._failed_at < FAILURE_PAUSE:
            return
        if not self._lock.acquire(timeout=WAIT_SECONDS if wait else 0):
            return
        try:
            if self._fetched_at == seen:  # else another thread was first
                with outside(IDENTITY_PROVIDER, operator_chosen=True):
                    self._value = self._fetch()
                self._fetched_at = timezone.now()
        except RateLimited:
            if wait:  # whoever has a usable value uses that
                raise
        except ProviderAway as error:
            self._failed_at = timezone.now()
            logger.warning("%s", error)
        finally:
            self._lock.release()

    def _is_old(self, age: timedelta) -> bool:
        return self._value is None or timezone.now() - self._fetched_at >= age
