"""The dashboard's calendar page: scheduled and published posts by month, week, day or as a list, in the workspace's zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from posts.calendar_posts import CalendarPost
from posts.dashboard.account_marks import AccountMarks
from posts.dashboard.calendar_days import SPAN_OF_VIEW, CalendarDay, date_from_query, span_of_week
from posts.dashboard.calendar_entries import RenderedCalendarEntry, render_calendar_entries
from posts.dashboard.calendar_grid import render_grid
from posts.dashboard.calendar_slots import empty_slots_by_day
from posts.dashboard.listing import account_platform_and_agent_choices, calendar_filters_from_query
from posts.dashboard.saved_filters import saved_filters_context
from posts.day_lists import STATUSES_NOT_IN_CALENDAR, list_first_posts_of_each_day
from posts.states import GroupStatus
from workspaces.workspace_page import WorkspacePage, workspace_page

VIEWS = {"month": _("Month"), "week": _("Week"), "day": _("Day"), "list": _("List")}
MAX_ENTRIES_PER_DAY = {"month": 3, "week": 12, "day": 80, "list": 10}  # the day view shows the others on further pages
MAX_DAY_PAGES = 1000
SHOWN_STATUSES = [state for state in GroupStatus.values if state not in STATUSES_NOT_IN_CALENDAR]


@dataclass(frozen=True)
class WeekStripDay:
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
    choices = account_platform_and_agent_choices(page)
    accounts = [account for account, _ in choices["accounts"]]
    slots = empty_slots_by_day(page, view, span.start_and_end(page.zone), accounts, filters)
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
        grid="" if view == "day" else render_grid(page, view, days),
        day=days[0],
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


def first_posts_of_days_this_week(page: WorkspacePage, *, per_day: int) -> list[WeekStripDay]:
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
    return [WeekStripDay(day, posts.get(day, []), totals.get(day, 0), day == today) for day in span.dates]


def _page_of_day(written: str) -> int:
    """Return the page number from the query string for a calendar day whose posts fill several pages; 1 if it is invalid."""
    return min(max(int(written), 1), MAX_DAY_PAGES) if written.isdecimal() and len(written) < 5 else 1
