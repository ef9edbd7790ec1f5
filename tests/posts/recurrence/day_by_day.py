"""An independent calculation of occurrences: it walks through the days, and through the quarter hours of a zone's clock.

It shares no code with the service and does not use dateutil. Rules are predicates of a date.
"""

from __future__ import annotations

from bisect import bisect_left
from calendar import monthrange
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import accumulate
from zoneinfo import ZoneInfo

QUARTER = timedelta(minutes=15)
DAY = timedelta(days=1)
Matches = Callable[[date, date], bool]  # the day, and the day of the start


@cache
def _clock(zone: str, year: int) -> tuple[datetime, list[datetime]]:
    """Return the UTC start of a zone's year, and the latest local time that its clock has shown by each quarter hour."""
    begin = datetime(year, 1, 1, tzinfo=UTC) - 2 * DAY
    shown = ((begin + number * QUARTER).astimezone(ZoneInfo(zone)).replace(tzinfo=None) for number in range(96 * 372))
    return begin, list(accumulate(shown, max))


def instant(local: datetime, zone: str) -> datetime:
    """Return the first instant at which a zone's clock has reached a local time on a quarter hour."""
    begin, latest = _clock(zone, local.year)
    return begin + bisect_left(latest, local) * QUARTER


def occurrences(matches: Matches, times: list[time], starts_at: datetime, zone: str, year: int) -> list[datetime]:
    """Return the instants of a year's occurrences, each once."""
    found: list[datetime] = []
    for day in days_of(year):
        for at in times:
            local = datetime.combine(day, at)
            if matches(day, starts_at.date()) and local >= starts_at:
                found.append(instant(local, zone))
    return sorted(set(found))


def days_of(year: int) -> Iterator[date]:
    day = date(year, 1, 1)
    while day.year == year:
        yield day
        day += DAY


def monday_of(day: date) -> date:
    return day - day.weekday() * DAY


def sunday_of(day: date) -> date:
    """Return the Sunday on which or before which a day is."""
    return day - (day.weekday() + 1) % 7 * DAY


def months_between(day: date, start: date) -> int:
    return 12 * (day.year - start.year) + day.month - start.month


def days_in_month(day: date) -> int:
    return monthrange(day.year, day.month)[1]


def is_numbered(day: date, weekday: int, number: int) -> bool:
    """Return whether a day is the first, second, … such weekday of its month; counted from the end if negative."""
    place = (day.day - 1) // 7 + 1 if number > 0 else -((days_in_month(day) - day.day) // 7 + 1)
    return day.weekday() == weekday and place == number


def is_workday_from_end(day: date, number: int) -> bool:
    """Return whether a day is the last, last but one, … Monday to Friday of its month."""
    later = sum(1 for each in range(day.day + 1, days_in_month(day) + 1) if day.replace(day=each).weekday() < 5)
    return day.weekday() < 5 and later == number - 1


def week_number(day: date) -> int:
    return day.isocalendar().week
