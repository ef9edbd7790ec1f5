"""The days that the calendar's views show: months, weeks, days and a list of two weeks, in the workspace's time zone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from config.pages.language import format_date
from posts.dashboard.calendar_entries import RenderedCalendarEntry
from posts.dashboard.calendar_slots import EmptySlot
from posts.dashboard.forms import ALLOWED_YEARS
from posts.local_time import start_of_local_day

WEEK = timedelta(days=7)
DAY = timedelta(days=1)
TIME_STEP = timedelta(minutes=5)
DEFAULT_HOUR = 9  # the hour of a new post on another day than today


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


@dataclass(frozen=True)
class CalendarHour:
    """One hour of the calendar's day view with its entries; `when` is the earliest future time in it, "" if it is over."""

    hour: int
    when: str
    entries: list[RenderedCalendarEntry]
    slots: list[EmptySlot]
    is_now: bool


@dataclass(frozen=True)
class CalendarDay:
    """A cell of the dashboard's calendar page: one date with its first posts, and how many it has in all.

    `inside`: the day belongs to the month that is shown. `now` is the local time, in the day in which it lies.
    """

    date: date
    entries: list[RenderedCalendarEntry]
    total: int
    inside: bool
    now: datetime
    slots: list[EmptySlot]

    @property
    def is_today(self) -> bool:
        return self.date == self.now.date()

    @property
    def hidden_entry_count(self) -> int:
        return self.total - len(self.entries)

    @property
    def is_over(self) -> bool:
        return self.date < self.now.date()

    @property
    def time_of_new_post(self) -> str:
        """Return the local time with which "+" in this CalendarDay opens the composer; "" if the day is over."""
        at = datetime.combine(self.date, datetime.min.time()).replace(hour=DEFAULT_HOUR)
        if self.is_today:
            at = (self.now + timedelta(hours=1)).replace(minute=0)
        return "" if self.is_over or at.date() != self.date else f"{at:%Y-%m-%dT%H:%M}"

    @property
    def hours(self) -> list[CalendarHour]:
        """Return the hours of this CalendarDay, except past empty ones; an hour that a clock change repeats occurs once."""
        found, midnight = [], datetime.combine(self.date, datetime.min.time(), self.now.tzinfo)
        for hour in range(24):
            begins, is_now = midnight + timedelta(hours=hour), self.is_today and self.now.hour == hour
            first = max(begins, self._first_time_to_come)
            when = f"{first:%Y-%m-%dT%H:%M}" if first < begins + timedelta(hours=1) else ""
            entries = [each for each in self.entries if each.local_time.hour == hour]
            if when or entries or is_now:
                slots = [each for each in self.slots if each.local_time.hour == hour]
                found.append(CalendarHour(hour, when, entries, slots, is_now))
        return found

    @property
    def _first_time_to_come(self) -> datetime:
        """Return the next local time that the calendar offers for a post: some minutes ahead, in steps of five."""
        soon = (self.now + TIME_STEP).replace(second=0, microsecond=0)
        return soon + timedelta(minutes=-soon.minute % 5)


def span_of_weeks_in_month(day: date) -> CalendarSpan:
    """Return the calendar span of the month that contains a day, extended to whole weeks."""
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
    "month": span_of_weeks_in_month,
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
