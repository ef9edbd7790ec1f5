"""Local times of posts: conversion of days and times in a workspace's time zone to UTC.

When clocks change, a day may have 23, 24, 25 or no hours, and a time may occur twice or never.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.utils.translation import gettext_noop

from accounts.local_time import first_instant_at_local_time
from config.api.errors import ValidationFailed


def local_day_window(day: date, timezone: str) -> tuple[datetime, datetime]:
    """Return the UTC instants at which a local day of posts begins and ends in a time zone.

    Raises ValidationFailed near the years 1 and 9999.
    """
    zone = ZoneInfo(timezone)
    try:
        return start_of_local_day(day, zone), start_of_local_day(day + timedelta(days=1), zone)
    except OverflowError as error:
        raise ValidationFailed.for_field(
            "date", gettext_noop("The date is outside the supported calendar."), "invalid"
        ) from error


def start_of_local_day(day: date, zone: ZoneInfo) -> datetime:
    """Return the UTC instant at which a local day of posts begins in a time zone.

    The first of two if midnight occurs twice; the instant of the clock change if midnight is skipped.
    """
    return first_instant_at_local_time(datetime.combine(day, time()), zone)


def instants_at_local_time(local_time: datetime, zone: ZoneInfo) -> list[datetime]:
    """Return all UTC instants of a local time that a person gave for a post: two when clocks are set back.

    Usually one; two if clocks are set back over the time, none if they are set forward over it.
    """
    found: list[datetime] = []
    for fold in (0, 1):
        instant = local_time.replace(tzinfo=zone, fold=fold).astimezone(UTC)
        if instant not in found and instant.astimezone(zone).replace(tzinfo=None) == local_time:
            found.append(instant)
    return found


def shift_past_clock_change(local_time: datetime, zone: ZoneInfo) -> datetime:
    """Return a post's local time with a time zone; a time that a clock change skips moves forward by as much."""
    return local_time.replace(tzinfo=zone).astimezone(UTC).astimezone(zone)
