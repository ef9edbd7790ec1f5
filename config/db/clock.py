"""Whether this machine's clock agrees with the database's, which all workers share.

Due times and leases are told by the workers' clocks. One that is ahead would publish early and take others' leases, so a
worker whose clock is off does no work until it is set right.
"""

from __future__ import annotations

import logging
import time
from datetime import datetime, timedelta

from django.db import connection
from django.utils import timezone

logger = logging.getLogger(__name__)
MOST_OFF = timedelta(seconds=3)
LOOK_SECONDS = 15.0


class ClockWatch:
    """Asks the database for its time now and then."""

    def __init__(self) -> None:
        self._looked_at = -LOOK_SECONDS
        self._agrees = True

    def agrees(self) -> bool:
        """Whether the clocks agreed when they were last compared, LOOK_SECONDS ago at the most."""
        if time.monotonic() - self._looked_at < LOOK_SECONDS:
            return self._agrees
        off = abs(timezone.now() - database_time())
        self._looked_at, self._agrees = time.monotonic(), off <= MOST_OFF
        if not self._agrees:
            logger.critical("This machine's clock is %s off the database's: no work is done until it is set.", off)
        return self._agrees


def database_time() -> datetime:
    """The database's time; SQLite has none of its own."""
    if connection.vendor != "postgresql":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (now,) = cursor.fetchone()
    return now
