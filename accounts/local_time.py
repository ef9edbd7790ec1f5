"""The instant at which the clocks of a time zone show a local time, which clock changes may skip or repeat."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

SECOND = timedelta(seconds=1)


def first_instant_at_local_time(local_time: datetime, zone: ZoneInfo) -> datetime:
    """Return the UTC instant of a local time, even if a clock change skips the time or makes it occur twice.

    The first of two if the time occurs twice; the instant of the clock change if the time is skipped.
    """
    instant = local_time.replace(tzinfo=zone).astimezone(UTC)
    if instant.astimezone(zone).replace(tzinfo=None) == local_time:
        return instant
    # The time is skipped. Search between its two UTC interpretations, with the offset before and after the clock change.
    early, late = local_time.replace(tzinfo=zone, fold=1).astimezone(UTC), instant
    offset = late.astimezone(zone).utcoffset()
    while late - early > SECOND:
        middle = (early + (late - early) / 2).replace(microsecond=0)
        if middle.astimezone(zone).utcoffset() == offset:
            late = middle
        else:
            early = middle
    return late
