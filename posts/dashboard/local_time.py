"""Times as people write them: on the clocks of a zone, where a time may come twice or never."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo


def instants_at_local_time(wall: datetime, zone: ZoneInfo) -> list[datetime]:
    """The instants at which the zone's clocks show this naive time, in UTC: one; two where they are set back over it;
    none where they are set forward over it."""
    found: list[datetime] = []
    for fold in (0, 1):
        instant = wall.replace(tzinfo=zone, fold=fold).astimezone(UTC)
        if instant not in found and instant.astimezone(zone).replace(tzinfo=None) == wall:
            found.append(instant)
    return found


def shift_past_clock_change(wall: datetime, zone: ZoneInfo) -> datetime:
    """What clocks show that were not set forward over this time: as much later as the jump is long."""
    return wall.replace(tzinfo=zone).astimezone(UTC).astimezone(zone)
