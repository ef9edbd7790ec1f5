"""The dashboard's calendar page: scheduled and published posts by month, week, day or as a list, in the workspace's zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from posts.dashboard.account_marks import AccountMarks
from posts.dashboard.calendar_days import SPAN_OF_VIEW, date_from_query, span_of_week
from posts.dashboard.calendar_entries import RenderedCalendarEntry, render_calendar_entries
from posts.dashboard.calendar_slots import EmptySlot, empty_slots_by_day
from posts.dashboard.listing import calendar_filters_from_query, post_filter_choices
from posts.dashboard.saved_filters import saved_filters_context
from posts.day_lists import STATUSES_NOT_IN_CALENDAR, CalendarPost, list_first_posts_of_each_day
from posts.states import GroupStatus
from workspaces.workspace_page import WorkspacePage, workspace_page

VIEWS = {"month": _("Month"), "week": _("Week"), "day": _("Day"), "list": _("List")}
MAX_ENTRIES_PER_DAY = {"month": 3, "week": 12, "day": 80, "list": 10}  # the day view shows the others on further pages
MAX_DAY_PAGES = 1000
TIME_STEP = timedelta(minutes=5)
DEFAULT_HOUR = 9  # the hour of a new post on another day than today
SHOWN_STATUSES = [state for state in GroupStatus.values if state not in STATUSES_NOT_IN_CALENDAR]


@dataclass(frozen=True)
class CalendarHour:
    """One hour of the calendar's day view with its entries; `when` is its first local time to come, empty without one."""

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
    def past_entries(self) -> list[RenderedCalendarEntry]:
        return [each for each in self.entries if each.local_time <= self.now]

    @property
    def later_entries(self) -> list[RenderedCalendarEntry]:
        return [each for each in self.entries if each.local_time > self.now]

    @property
    def hours(self) -> list[CalendarHour]:
        """Return the hours of this CalendarDay, without those that are over and empty; an hour that comes twice is one."""
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


@dataclass(frozen=True)
class DayOfWeekStrip:
    """A day of the week strip on the home page: a date of this week, and its first posts."""

    date: date
    posts: list[CalendarPost]
    total: int
    today: bool

    @property
    def hidden_post_count(self) -> int:
        return self.total - len(self.posts)


@workspace_page()
def show_calendar(page: WorkspacePage) -> HttpResponse:
    """Dashboard page that shows the calendar of posts by month, week or day, or as a list of two weeks."""
    parameters = page.request.GET
    view = parameters.get("view", "") if parameters.get("view", "") in VIEWS else "month"
    now = timezone.localtime()
    span = SPAN_OF_VIEW[view](date_from_query(parameters.get("date", ""), now.date()))
    per_day, day_page = MAX_ENTRIES_PER_DAY[view], _page_of_day(parameters.get("page", "")) if view == "day" else 1
    filters = calendar_filters_from_query(page)
    groups = list_first_posts_of_each_day(
        caller=page.caller,
        workspace_id=page.workspace.id,
        window=span.start_and_end(page.zone),
        zone=page.zone,
        filters=filters,
        per_day=per_day,
        skip=per_day * (day_page - 1),
    )
    totals = {group.day: group.on_day for group in groups}
    entries: dict[date, list[RenderedCalendarEntry]] = {}
    marks = AccountMarks(page, (target for group in groups for target in group.targets))
    for entry in render_calendar_entries(page, groups, marks, characters=79 if view == "day" else 60):
        entries.setdefault(entry.local_time.date(), []).append(entry)
    choices = post_filter_choices(page)
    slots = empty_slots_by_day(
        page, view, span.start_and_end(page.zone), [account for account, _ in choices["accounts"]], filters
    )
    month = span.dates[min(7, span.days - 1)].month  # the grid of a month begins in the week of its first day
    days = [
        CalendarDay(
            day, entries.get(day, []), totals.get(day, 0), view != "month" or day.month == month, now, slots.get(day, [])
        )
        for day in span.dates
    ]
    return page.render(
        "posts/calendar.html",
        view=view,
        views=VIEWS.items(),
        span=span,
        days=days,
        any_entries=any(day.total for day in days if day.inside),
        now=now,
        filters=filters,
        is_filtered=filters != type(filters)(),
        states=SHOWN_STATUSES,
        sprite=marks.sprite(slot.account.platform for day in days for slot in day.slots),
        day_page=day_page,
        has_next_page=view == "day" and days[0].total > day_page * per_day,
        **choices,
        **saved_filters_context(page, "calendar"),
    )


def first_posts_of_days_this_week(page: WorkspacePage, *, per_day: int) -> list[DayOfWeekStrip]:
    """Return the days of the week strip on the home page: each date of this week with its first posts."""
    today = timezone.localtime().date()
    span = span_of_week(today)
    groups = list_first_posts_of_each_day(
        caller=page.caller,
        workspace_id=page.workspace.id,
        window=span.start_and_end(page.zone),
        zone=page.zone,
        per_day=per_day,
    )
    posts: dict[date, list[CalendarPost]] = {}
    for group in groups:
        posts.setdefault(group.day, []).append(group)
    totals = {group.day: group.on_day for group in groups}
    return [DayOfWeekStrip(day, posts.get(day, []), totals.get(day, 0), day == today) for day in span.dates]


def _page_of_day(written: str) -> int:
    """Return the number of the page of a calendar day with many posts, from the query string; 1 if it is invalid."""
    return min(max(int(written), 1), MAX_DAY_PAGES) if written.isdecimal() and len(written) < 5 else 1
