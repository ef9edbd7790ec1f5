"""Compares the clock of this machine with the clock of the database, which all workers share.

Workers use their own clocks for due times and leases. A clock that is ahead would publish early and take over leases of
other workers, so a worker whose clock differs too much does no work until the clock is corrected.
"""

from __future__ import annotations

import logging
import time
from datetime import datetime, timedelta

from django.db import connection
from django.utils import timezone

logger = logging.getLogger(__name__)
MAX_CLOCK_SKEW = timedelta(seconds=3)
CHECK_SECONDS = 15.0


class ClockMonitor:
    """Watches whether the clock of this machine agrees with that of the database, every CHECK_SECONDS."""

    def __init__(self) -> None:
        self._checked_at = -CHECK_SECONDS
        self._agrees = True

    def clocks_agree(self) -> bool:
        """Return whether this machine's clock agrees with the database's; compares them again only every CHECK_SECONDS."""
        if time.monotonic() - self._checked_at < CHECK_SECONDS:
            return self._agrees
        off = abs(timezone.now() - database_time())
        self._checked_at, self._agrees = time.monotonic(), off <= MAX_CLOCK_SKEW
        if not self._agrees:
            logger.critical(
                "This machine's clock differs from the database's by %s. The worker does no work until it is corrected.", off
            )
        return self._agrees


def database_time() -> datetime:
    """Return the current time by the database's clock; with SQLite this is the clock of this machine."""
    if connection.vendor != "postgresql":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (now,) = cursor.fetchone()
    return now
