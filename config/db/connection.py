"""Kept connections: whether the database is still there is asked after a pause, not before each piece of work.

With CONN_HEALTH_CHECKS Django asks at each request, which costs as much as a small write does.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from django.db import connection

FRESH_SECONDS = 1.0
_thread = threading.local()


def trust_if_fresh(**kwargs: Any) -> None:
    """Call it after `close_old_connections`: a connection that this thread used a moment ago is not asked again.

    Should the database have gone in that moment, the work meets an error, as it does when the database goes later on.
    """
    now = time.monotonic()
    if now - getattr(_thread, "used_at", -FRESH_SECONDS) < FRESH_SECONDS:
        connection.health_check_done = True  # type: ignore[attr-defined]
    _thread.used_at = now


def let_go() -> None:
    """Close this thread's connection, unless it is in a transaction: what comes next asks somebody else and takes its
    time, and many threads may be at it."""
    if not connection.in_atomic_block:
        connection.close()
