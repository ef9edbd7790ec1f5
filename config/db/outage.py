"""Database outages: the exceptions that show one, and a function that repeats an important write during one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError, connection

Result = TypeVar("Result")
# What Django raises when the database cannot be reached. A lock that is not granted in time raises OperationalError too.
DATABASE_ERRORS = (OperationalError, InterfaceError)
MAX_OUTAGE_SECONDS = 30.0
RETRY_SECONDS = 0.5


def retry_while_database_down(write: Callable[..., Result], *args: Any, **named: Any) -> Result:
    """Call a function that writes to the database; repeat the call during a database outage, for at most 30 seconds.

    For values that exist only in this process, such as a platform's answer. `write` must be safe to repeat, because a
    write can be committed although its confirmation was lost. Inside a transaction nothing is repeated.
    """
    deadline = float("inf")
    while True:
        try:
            return write(*args, **named)
        except DATABASE_ERRORS:
            deadline = min(deadline, time.monotonic() + MAX_OUTAGE_SECONDS)
            if connection.in_atomic_block or time.monotonic() > deadline:
                raise
            connection.close()
            time.sleep(RETRY_SECONDS)
