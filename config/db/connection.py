"""Database connections that stay open: when to check that they still work, and when to close them early.

With CONN_HEALTH_CHECKS Django checks a connection at each request, which costs as much as a small write.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from django.db import connection

FRESH_SECONDS = 1.0
_thread = threading.local()


def skip_health_check_if_fresh(**kwargs: Any) -> None:
    """Skip Django's health check of a database connection that this thread used in the last FRESH_SECONDS.

    Call it after `close_old_connections`. If the database went down in that time, the next query fails, as it would later.
    """
    now = time.monotonic()
    if now - getattr(_thread, "used_at", -FRESH_SECONDS) < FRESH_SECONDS:
        connection.health_check_done = True  # type: ignore[attr-defined]
    _thread.used_at = now


def close_connection_before_waiting() -> None:
    """Close this thread's database connection before a slow network call, unless it is in a transaction.

    Many threads may wait for the network at once, and each would hold a connection.
    """
    if not connection.in_atomic_block:
        connection.close()
