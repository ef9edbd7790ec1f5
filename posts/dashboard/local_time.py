"""Conversion of local times, which may occur twice or never when clocks change."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo


def instants_at_local_time(wall: datetime, zone: ZoneInfo) -> list[datetime]:
    """Return the UTC instants at which clocks in the time zone show this naive time.

    Usually one; two if clocks are set back over the time, none if they are set forward over it.
    """
    found: list[datetime] = []
    for fold in (0, 1):
        instant = wall.replace(tzinfo=zone, fold=fold).astimezone(UTC)
        if instant not in found and instant.astimezone(zone).replace(tzinfo=None) == wall:
            found.append(instant)
    return found


def shift_past_clock_change(wall: datetime, zone: ZoneInfo) -> datetime:
    """Return a skipped local time moved forward by the length of the clock change that skipped it."""
    return wall.replace(tzinfo=zone).astimezone(UTC).astimezone(zone)
