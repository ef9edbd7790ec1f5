"""Limits on the threads and the CPU time of requests, so that one caller cannot slow down the others.

A web process has few threads (WEB_THREADS), and a request that waits for another server occupies one of them. Each kind of
waiting has a `WebThreadLimit`: a maximum for the process and a lower one for each workspace. A request over the limit is
refused at once and can be retried. `limit_outbound_threads_and_seconds` also sets a deadline for all outbound requests of
its block, and `check_cpu_time` limits the CPU time of one request.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextvars import ContextVar

from django.conf import settings
from django.utils.translation import gettext_noop

from config.api import errors
from config.outbound import total_deadline

OUTBOUND_SECONDS = 20.0
REQUEST_CPU_SECONDS = 5.0
_cpu_at_start: ContextVar[float | None] = ContextVar("cpu_at_start", default=None)
_holds_outbound_slot: ContextVar[bool] = ContextVar("is_outside", default=False)


class WebThreadLimit:
    """A limit on the web threads that requests may occupy: `total` in this process, and `each` for one workspace."""

    def __init__(self, total: int, each: int | None = None) -> None:
        self._total, self._each = max(1, total), each or max(1, total)
        self._held: Counter[str] = Counter()
        self._lock = threading.Lock()

    def try_acquire_thread(self, workspace_id: str = "") -> bool:
        """Count the current web thread against the limit; return False, without waiting, if the limit is reached."""
        with self._lock:
            if self._held.total() >= self._total or self._held[workspace_id] >= self._each:
                return False
            self._held[workspace_id] += 1
            return True

    def release_thread(self, workspace_id: str = "") -> None:
        """Stop counting a web thread as occupied by a workspace's request, after `try_acquire_thread` counted it."""
        with self._lock:
            self._held[workspace_id] -= 1
            if not self._held[workspace_id]:
                del self._held[workspace_id]

    @contextlib.contextmanager
    def hold_thread(self, workspace_id: str = "") -> Iterator[None]:
        """Return a context manager that counts the current web thread; it raises RateLimited if the limit is reached."""
        if not self.try_acquire_thread(workspace_id):
            raise errors.RateLimited(
                gettext_noop("Too many requests are waiting for other servers."),
                suggested_action=gettext_noop("Try again in a few seconds."),
                headers={"Retry-After": "5"},
            )
        try:
            yield
        finally:
            self.release_thread(workspace_id)


# For requests to servers that callers choose or use: fetching media from a URL, asking a platform about an account.
outbound_thread_limit = WebThreadLimit(settings.WEB_THREADS // 4, each=2)
# For servers that the operator chose, so that a slow server of one tenant cannot prevent people from signing in.
operator_server_thread_limit = WebThreadLimit(settings.WEB_THREADS // 4)


@contextlib.contextmanager
def limit_outbound_threads_and_seconds(workspace_id: str, *, operator_chosen: bool = False) -> Iterator[None]:
    """Return a context manager that limits outbound requests: how many threads wait for them, and for how many seconds.

    The current thread counts against the limit; all requests of the block together must end within OUTBOUND_SECONDS.
    `workspace_id` may be a user id or client address where there is no workspace. `operator_chosen` is for the identity
    provider and the payment processor, which have their own limit. A nested block reuses the outer slot. Raises
    RateLimited when no slot is free. Requests through config.outbound time out at the deadline.
    """
    if _holds_outbound_slot.get():
        yield
        return
    share = operator_server_thread_limit if operator_chosen else outbound_thread_limit
    with share.hold_thread(workspace_id), total_deadline(OUTBOUND_SECONDS):
        token = _holds_outbound_slot.set(True)
        try:
            yield
        finally:
            _holds_outbound_slot.reset(token)


def start_cpu_timer() -> None:
    """Start to measure the CPU time of a request, for its limit; AccessLogMiddleware calls this first."""
    _cpu_at_start.set(time.thread_time())


def check_cpu_time() -> None:
    """Raise PayloadTooLarge if the request has used all its allowed CPU time; loops over a request's input call this."""
    start = _cpu_at_start.get()
    if start is not None and time.thread_time() - start > REQUEST_CPU_SECONDS:
        raise errors.PayloadTooLarge(
            gettext_noop("The request takes more work than one request may."),
            suggested_action=gettext_noop("Send fewer posts or shorter texts."),
        )
