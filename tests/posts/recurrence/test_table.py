"""Rules in zones and years: the occurrences are those of an independent calculation, day by day."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from posts.recurrence import Recurrence, parse_rule
from tests.posts.recurrence.day_by_day import (
    Matches,
    days_in_month,
    instant,
    is_numbered,
    is_workday_from_end,
    monday_of,
    months_between,
    occurrences,
    sunday_of,
    week_number,
)

MON, TUE, WED, THU, FRI, SAT, SUN = range(7)
DAY = timedelta(days=1)
local = datetime.fromisoformat
RULES: dict[str, Matches] = {
    "FREQ=DAILY": lambda day, start: True,
    "FREQ=DAILY;INTERVAL=3": lambda day, start: (day - start).days % 3 == 0,
    "FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR": lambda day, start: day.weekday() < SAT,
    "FREQ=DAILY;BYMONTH=3,10,11;BYMONTHDAY=-1,1": lambda day, start: (
        day.month in (3, 10, 11) and day.day in (1, days_in_month(day))
    ),
    "FREQ=WEEKLY": lambda day, start: day.weekday() == start.weekday(),
    "FREQ=WEEKLY;BYDAY=SU": lambda day, start: day.weekday() == SUN,
    "FREQ=WEEKLY;BYDAY=MO,WE,SU;INTERVAL=2": lambda day, start: (
        day.weekday() in (MON, WED, SUN) and (monday_of(day) - monday_of(start)).days // 7 % 2 == 0
    ),
    "FREQ=WEEKLY;BYDAY=TU,SU;INTERVAL=2;WKST=SU": lambda day, start: (
        day.weekday() in (TUE, SUN) and (sunday_of(day) - sunday_of(start)).days // 7 % 2 == 0
    ),
    "FREQ=WEEKLY;BYDAY=MO,TU,WE;BYSETPOS=-1": lambda day, start: day.weekday() == WED,
    "FREQ=MONTHLY": lambda day, start: day.day == start.day,
    "FREQ=MONTHLY;BYMONTHDAY=31": lambda day, start: day.day == 31,
    "FREQ=MONTHLY;BYMONTHDAY=-1": lambda day, start: day.day == days_in_month(day),
    "FREQ=MONTHLY;BYDAY=1MO": lambda day, start: is_numbered(day, MON, 1),
    "FREQ=MONTHLY;BYDAY=TU,-1SU": lambda day, start: day.weekday() == TUE or is_numbered(day, SUN, -1),
    "FREQ=MONTHLY;BYDAY=-1SU": lambda day, start: is_numbered(day, SUN, -1),
    "FREQ=MONTHLY;BYDAY=2SU,4WE;INTERVAL=5": lambda day, start: (
        months_between(day, start) % 5 == 0 and (is_numbered(day, SUN, 2) or is_numbered(day, WED, 4))
    ),
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2": lambda day, start: is_workday_from_end(day, 2),
    "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13": lambda day, start: day.weekday() == FRI and day.day == 13,
    "FREQ=YEARLY": lambda day, start: (day.month, day.day) == (start.month, start.day),
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29": lambda day, start: (day.month, day.day) == (2, 29),
    "FREQ=YEARLY;BYMONTH=3,11;BYDAY=2SU,1SU": lambda day, start: (
        day.month in (3, 11) and (is_numbered(day, SUN, 1) or is_numbered(day, SUN, 2))
    ),
    "FREQ=YEARLY;BYYEARDAY=1,100,-1": lambda day, start: day.timetuple().tm_yday in (1, 100) or (day + DAY).year != day.year,
    "FREQ=YEARLY;BYWEEKNO=20": lambda day, start: week_number(day) == 20 and day.weekday() == start.weekday(),
    "FREQ=YEARLY;BYWEEKNO=1,30;BYDAY=MO,SU": lambda day, start: week_number(day) in (1, 30) and day.weekday() in (MON, SUN),
    "FREQ=YEARLY;INTERVAL=2;BYMONTH=3": lambda day, start: (
        (day.year - start.year) % 2 == 0 and (day.month, day.day) == (3, start.day)
    ),
    "FREQ=YEARLY;BYDAY=SU": lambda day, start: day.weekday() == SUN,
}
# Zones with the years in which their clocks do something rare, and the time of the posts.
CLOCKS = [
    ("Europe/Berlin", 2027, "02:30"),  # skipped on 28 March, doubled on 31 October
    ("America/New_York", 2028, "01:30"),  # doubled on 5 November
    ("America/Sao_Paulo", 2018, "00:00"),  # midnight is skipped on 4 November
    ("Pacific/Apia", 2011, "10:00"),  # 30 December is skipped
    ("Australia/Lord_Howe", 2027, "02:15"),  # clocks change by half an hour
    ("Africa/Casablanca", 2026, "02:45"),  # four changes around Ramadan
    ("UTC", 2032, "23:45"),
]


@pytest.mark.parametrize(("zone", "year", "at"), CLOCKS)
@pytest.mark.parametrize("text", RULES)
def test_rule_matches_the_days_of_an_independent_calculation(text: str, zone: str, year: int, at: str) -> None:
    starts_at = local(f"{year - 1}-05-29 {at}")
    window = (instant(local(f"{year}-01-01"), zone) - timedelta(seconds=1), instant(local(f"{year}-12-31 23:45"), zone))

    found = Recurrence(parse_rule(text), starts_at, ZoneInfo(zone)).occurrences(*window)

    assert [each.at for each in found] == occurrences(RULES[text], [starts_at.time()], starts_at, zone, year)


def test_times_of_day_come_from_the_rule() -> None:
    recurrence = Recurrence(
        parse_rule("FREQ=DAILY;BYHOUR=2,18;BYMINUTE=15,45"), local("2027-01-01 09:00"), ZoneInfo("Europe/Berlin")
    )
    times = [time(hour, minute) for hour in (2, 18) for minute in (15, 45)]

    found = recurrence.occurrences(datetime(2027, 1, 1, tzinfo=UTC), datetime(2027, 12, 31, 22, 59, tzinfo=UTC))

    expected = occurrences(lambda day, start: True, times, recurrence.starts_at, "Europe/Berlin", 2027)
    assert [each.at for each in found] == expected


@pytest.mark.parametrize("text", RULES)
def test_search_from_a_later_day_finds_the_same(text: str) -> None:
    recurrence = Recurrence(parse_rule(text), local("2019-02-28 09:00"), ZoneInfo("Europe/Berlin"))
    begin, end = datetime(2019, 1, 1, tzinfo=UTC), datetime(2031, 1, 1, tzinfo=UTC)
    everything = [each.at for each in recurrence.occurrences(begin, end)]

    for after in (datetime(2019, 3, 1, tzinfo=UTC), datetime(2024, 2, 29, 8, tzinfo=UTC), datetime(2028, 12, 31, tzinfo=UTC)):
        assert [each.at for each in recurrence.occurrences(after, end)] == [at for at in everything if at > after]
