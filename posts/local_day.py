"""A calendar day of a time zone as a window of instants: 24 hours long, or 23, 25 or none where the clocks are moved."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from config.api.errors import ValidationFailed

SECOND = timedelta(seconds=1)


def local_day_window(day: date, timezone: str) -> tuple[datetime, datetime]:
    """From local midnight to the next local midnight, in UTC. Raises ValidationFailed at the ends of the calendar."""
    zone = ZoneInfo(timezone)
    try:
        return start_of_local_day(day, zone), start_of_local_day(day + timedelta(days=1), zone)
    except OverflowError as error:
        raise ValidationFailed.of("date", "Lies outside the calendar.", "invalid") from error


def start_of_local_day(day: date, zone: ZoneInfo) -> datetime:
    """Midnight; of a midnight that comes twice the first, and of one that the zone skips the instant of the jump."""
    midnight = datetime.combine(day, time(), tzinfo=zone)
    instant = midnight.astimezone(UTC)
    if instant.astimezone(zone).replace(tzinfo=None) == midnight.replace(tzinfo=None):
        return instant
    # Skipped: with the offset after the jump it is an instant before it, with the offset before the jump one after it.
    early, late = midnight.replace(fold=1).astimezone(UTC), instant
    offset = late.astimezone(zone).utcoffset()
    while late - early > SECOND:
        middle = (early + (late - early) / 2).replace(microsecond=0)
        if middle.astimezone(zone).utcoffset() == offset:
            late = middle
        else:
            early = middle
    return late
