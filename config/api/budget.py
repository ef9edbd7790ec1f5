"""What one caller may take of a process, so that nobody's work becomes everybody's wait.

A web process has few threads (WEB_THREADS). A request that waits for something outside the process holds one of them
without using it, so each kind of waiting has a `ThreadShare`: a bound for the whole process, and a smaller one for each
workspace. A request that does not fit is refused at once and can be sent again. `outside` adds a deadline over all
outbound requests of the block, and `check_cpu` bounds the CPU time of one request.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextvars import ContextVar

from django.conf import settings

from config.api import errors
from config.outbound import total_deadline

OUTSIDE_SECONDS = 20.0
REQUEST_CPU_SECONDS = 5.0
_cpu_at_start: ContextVar[float | None] = ContextVar("cpu_at_start", default=None)
_is_outside: ContextVar[bool] = ContextVar("is_outside", default=False)


class ThreadShare:
    """At most `total` threads of this process at a time, `each` of them for one workspace."""

    def __init__(self, total: int, each: int | None = None) -> None:
        self._total, self._each = max(1, total), each or max(1, total)
        self._held: Counter[str] = Counter()
        self._lock = threading.Lock()

    def acquire(self, workspace_id: str = "") -> bool:
        """Take a thread of the share without waiting; False when none is free. Each True needs one `release`."""
        with self._lock:
            if self._held.total() >= self._total or self._held[workspace_id] >= self._each:
                return False
            self._held[workspace_id] += 1
            return True

    def release(self, workspace_id: str = "") -> None:
        """Give back what `acquire` took."""
        with self._lock:
            self._held[workspace_id] -= 1
            if not self._held[workspace_id]:
                del self._held[workspace_id]

    @contextlib.contextmanager
    def held(self, workspace_id: str = "") -> Iterator[None]:
        """Hold a thread of the share during the block. Raises RateLimited when none is free."""
        if not self.acquire(workspace_id):
            raise errors.RateLimited(
                "Too many requests are waiting for other servers at the moment.",
                suggested_action="Try again in a few seconds.",
                headers={"Retry-After": "5"},
            )
        try:
            yield
        finally:
            self.release(workspace_id)


# Requests that wait for servers of other people: fetching media from an address, asking a platform about an account.
outside_threads = ThreadShare(settings.WEB_THREADS // 4, each=2)
# Those that wait for servers which the operator chose. No tenant's server keeps people from signing in.
operator_chosen_threads = ThreadShare(settings.WEB_THREADS // 4)


@contextlib.contextmanager
def outside(workspace_id: str, *, operator_chosen: bool = False) -> Iterator[None]:
    """Wait for servers of other people during the block: in the share of such requests, for OUTSIDE_SECONDS in all.

    `workspace_id` is the user's id, or the client's address, where no workspace is known. `operator_chosen`: the server
    is the identity provider's or the payment processor's; those requests have a share of their own. A block inside
    another one belongs to that one. Raises RateLimited when the share is full. Requests through config.outbound end at
    the deadline as at a time-out.
    """
    if _is_outside.get():
        yield
        return
    share = operator_chosen_threads if operator_chosen else outside_threads
    with share.held(workspace_id), total_deadline(OUTSIDE_SECONDS):
        token = _is_outside.set(True)
        try:
            yield
        finally:
            _is_outside.reset(token)


def start_cpu_clock() -> None:
    """Count the CPU time of this thread from here on; the request's first step calls it."""
    _cpu_at_start.set(time.thread_time())


def check_cpu() -> None:
    """Raise PayloadTooLarge when this request has used REQUEST_CPU_SECONDS of CPU time. Loops over input call it."""
    start = _cpu_at_start.get()
    if start is not None and time.thread_time() - start > REQUEST_CPU_SECONDS:
        raise errors.PayloadTooLarge(
            "The request takes more work than one request may.", suggested_action="Send fewer posts or shorter texts."
        )
