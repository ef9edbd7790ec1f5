"""The dashboard's calendar page: scheduled and published posts by month, week or day, in the workspace's time zone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.http import HttpResponse
from django.utils import timezone
from django.utils.formats import date_format

from posts import day_lists
from posts.dashboard.forms import ALLOWED_YEARS
from posts.dashboard.listing import post_filter_choices, post_filters_from_query
from posts.local_time import start_of_local_day
from posts.models import PostGroup
from posts.states import GROUP_STATUSES_NEEDING_A_PERSON
from workspaces.workspace_page import WorkspacePage, workspace_page

VIEWS = {"month": "Month", "week": "Week", "day": "Day"}
MAX_POSTS_PER_DAY = {"month": 3, "week": 12}  # the day view shows the other posts
PER_PAGE = 80  # posts on a page of the day view
WEEK = timedelta(days=7)
DAY = timedelta(days=1)


@dataclass(frozen=True)
class CalendarDay:
    """One day of the calendar page's month or week: its first posts, and how many posts it has in all."""

    date: date
    posts: list[PostGroup]
    total: int
    inside: bool  # whether the day belongs to the month shown
    today: bool

    @property
    def hidden_post_count(self) -> int:
        return self.total - len(self.posts)


@dataclass(frozen=True)
class CalendarSpan:
    """The days that the calendar page shows, with the page's title and the dates of its previous and next links."""

    first: date
    days: int
    title: str
    earlier: date
    later: date


@workspace_page()
def calendar(page: WorkspacePage) -> HttpResponse:
    """Dashboard page that shows the calendar of posts by month, week or day."""
    parameters = page.request.GET
    view = parameters.get("view", "") if parameters.get("view", "") in VIEWS else "month"
    today = timezone.now().astimezone(page.zone).date()
    span = SPAN_OF_VIEW[view](_date(parameters.get("date", ""), today))
    query: dict[str, Any] = {
        "caller": page.caller,
        "workspace_id": page.workspace.id,
        "window": _window(span, page.zone),
        **post_filters_from_query(page),
    }
    if view == "day":
        found = day_lists.calendar_posts_of_day(limit=PER_PAGE, cursor=parameters.get("cursor"), **query)
        shown: dict[str, Any] = {"posts": found.rows, "next_cursor": found.next_cursor}
    else:
        groups = day_lists.first_calendar_posts_per_day(zone=page.zone, per_day=MAX_POSTS_PER_DAY[view], **query)
        shown = _days(groups, view, span, today)
    return page.render(
        "posts/calendar.html",
        view=view,
        views=VIEWS.items(),
        span=span,
        today=today,
        for_a_person=GROUP_STATUSES_NEEDING_A_PERSON,
        **post_filter_choices(page),
        **shown,
    )


def days_of_this_week(page: WorkspacePage, *, per_day: int) -> list[CalendarDay]:
    """Return the days of the current week with the first posts of each, for pages that show a part of the calendar."""
    today = timezone.now().astimezone(page.zone).date()
    span = _week(today)
    groups = day_lists.first_calendar_posts_per_day(
        caller=page.caller,
        workspace_id=page.workspace.id,
        window=_window(span, page.zone),
        zone=page.zone,
        per_day=per_day,
    )
    days: list[CalendarDay] = _days(groups, "week", span, today)["days"]
    return days


def _window(span: CalendarSpan, zone: ZoneInfo) -> tuple[datetime, datetime]:
    """Return when the first day of a part of the calendar begins, and when its last day ends."""
    return start_of_local_day(span.first, zone), start_of_local_day(span.first + DAY * span.days, zone)


def _days(groups: Sequence[PostGroup], view: str, span: CalendarSpan, today: date) -> dict[str, Any]:
    """Return the days of the calendar's month or week for the template, each with its first posts and number of posts."""
    posts: dict[date, list[PostGroup]] = {}
    totals: dict[date, int] = {}
    for group in groups:
        posts.setdefault(group.day, []).append(group)  # type: ignore[attr-defined]  # annotated
        totals[group.day] = group.on_day  # type: ignore[attr-defined]
    month = (span.first + WEEK).month  # the grid of a month begins in the week of its first day
    every = [span.first + DAY * number for number in range(span.days)]
    days = [
        CalendarDay(day, posts.get(day, []), totals.get(day, 0), view == "week" or day.month == month, day == today)
        for day in every
    ]
    return {"days": days, "any_posts": any(day.total for day in days if day.inside)}


def _month(day: date) -> CalendarSpan:
    first = day.replace(day=1)
    following = (first + timedelta(days=31)).replace(day=1)
    start = first - DAY * first.weekday()
    weeks = -(-(following - start).days // 7)
    return CalendarSpan(start, 7 * weeks, date_format(first, "F Y"), (first - DAY).replace(day=1), following)


def _week(day: date) -> CalendarSpan:
    start = day - DAY * day.weekday()
    end = start + WEEK - DAY
    begins = date_format(start, "j" if start.month == end.month else "j F" if start.year == end.year else "j F Y")
    return CalendarSpan(start, 7, f"{begins} – {date_format(end, 'j F Y')}", start - WEEK, start + WEEK)


def _day(day: date) -> CalendarSpan:
    return CalendarSpan(day, 1, date_format(day, "l, j F Y"), day - DAY, day + DAY)


SPAN_OF_VIEW = {"month": _month, "week": _week, "day": _day}


def _date(written: str, today: date) -> date:
    """Return the date in the calendar page's query string, or today if it is missing or invalid."""
    try:
        day = date.fromisoformat(written)
    except ValueError:
        return today
    return day if day.year in ALLOWED_YEARS else today
