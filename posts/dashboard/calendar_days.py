"""The days that the calendar's views show: months, weeks, days and a list of two weeks, in the workspace's time zone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from config.pages.language import format_date
from posts.dashboard.forms import ALLOWED_YEARS
from posts.local_time import start_of_local_day

WEEK = timedelta(days=7)
DAY = timedelta(days=1)


@dataclass(frozen=True)
class CalendarSpan:
    """The days that the calendar page shows, with the page's title and the dates of its previous and next links."""

    first: date
    days: int
    title: str
    earlier: date
    later: date

    @property
    def dates(self) -> list[date]:
        return [self.first + DAY * number for number in range(self.days)]

    def start_and_end(self, zone: ZoneInfo) -> tuple[datetime, datetime]:
        """Return when the first day of this CalendarSpan begins, and when its last day ends."""
        return start_of_local_day(self.first, zone), start_of_local_day(self.first + DAY * self.days, zone)


def span_of_month(day: date) -> CalendarSpan:
    """Return the calendar span of the weeks in which the month of a day lies."""
    first = day.replace(day=1)
    following = (first + timedelta(days=31)).replace(day=1)
    start = first - DAY * first.weekday()
    weeks = -(-(following - start).days // 7)
    return CalendarSpan(start, 7 * weeks, format_date(first, "F Y"), (first - DAY).replace(day=1), following)


def span_of_week(day: date) -> CalendarSpan:
    """Return the calendar span of the week of a day, from Monday."""
    start = day - DAY * day.weekday()
    return CalendarSpan(start, 7, _from_to(start, start + WEEK - DAY), start - WEEK, start + WEEK)


def span_of_single_day(day: date) -> CalendarSpan:
    """Return the calendar span that consists of a single day."""
    return CalendarSpan(day, 1, format_date(day, "l, j F Y"), day - DAY, day + DAY)


def span_of_two_weeks_from(day: date) -> CalendarSpan:
    """Return the calendar span of the fourteen days that begin with a day."""
    return CalendarSpan(day, 14, _from_to(day, day + 2 * WEEK - DAY), day - 2 * WEEK, day + 2 * WEEK)


SPAN_OF_VIEW: dict[str, Callable[[date], CalendarSpan]] = {
    "month": span_of_month,
    "week": span_of_week,
    "day": span_of_single_day,
    "list": span_of_two_weeks_from,
}


def date_from_query(written: str, today: date) -> date:
    """Return the date in the calendar page's query string, or today if it is missing or invalid."""
    try:
        day = date.fromisoformat(written)
    except ValueError:
        return today
    return day if day.year in ALLOWED_YEARS else today


def _from_to(start: date, end: date) -> str:
    until = format_date(end, "j F Y")
    if start.month == end.month:
        return _("%(day)d – %(until)s") % {"day": start.day, "until": until}
    return f"{format_date(start, 'j F' if start.year == end.year else 'j F Y')} – {until}"
