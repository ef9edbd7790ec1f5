"""Queries of the posts of a day or of several days: a post is listed once on each day on which one of its targets lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.db import connection
from django.db.models import Count, F, Min, Prefetch, Q, QuerySet, Window
from django.db.models.functions import Coalesce, Left, RowNumber, TruncDate
from django.utils import timezone

from config.api.caller import Caller, require_access
from config.api.paging import Page, decode_earliest_first_cursor, page_of_rows_earliest_first
from posts.local_time import start_of_local_day
from posts.models import PostGroup, PostTarget
from posts.selectors import require_account_and_agent_in_workspace
from posts.states import GroupStatus, TargetStatus
from posts.summaries import PostSummary, read_post_summaries_by_sql
from posts.tags import has_tag_condition, tags_expression
from posts.target_times import MAX_SCHEDULE_AHEAD

STATUSES_NOT_IN_CALENDAR = (GroupStatus.DRAFT, GroupStatus.REJECTED, GroupStatus.CANCELLED)
EXCERPT_CHARACTERS = 80  # beginning of the text that the calendar shows
SHOWN_AT = Coalesce("scheduled_at", "created_at")


@dataclass(frozen=True)
class CalendarFilters:
    """The filters of the calendar's lists of posts by day; None or an empty text shows all posts."""

    account_id: str | None = None
    agent_id: str | None = None
    platform: str | None = None
    status: str | None = None
    text: str = ""
    tag: str = ""


class CalendarTarget(NamedTuple):
    """A target in the lists of posts by day: when and where it is published, and whether the calendar can move it."""

    platform: str
    status: str
    scheduled_at: datetime | None
    lease_until: datetime | None
    attempts: int
    account_id: str


class CalendarPost(NamedTuple):
    """A post in the lists of posts by day, at one time of its targets; models of the same rows take four times as long.

    `excerpt` is the beginning of the text, `tags` those of the metadata, separated by commas; `targets` are all targets of
    the post. `moment` is the time that the targets of this entry have, None without one; `shown_at` the time at which they
    are shown, on the local `day`, which has `on_day` entries.
    """

    id: str
    status: str
    excerpt: str
    media: Sequence[dict[str, Any]]
    tags: str | None
    targets: Sequence[CalendarTarget]
    moment: datetime | None
    shown_at: datetime
    day: date
    on_day: int


class LocalDateInWindow(TruncDate):
    """Database function for lists by day: the local date of a time; on SQLite by comparing it with the window's midnights.

    SQLite's functions for time zones are written in Python, and a month of posts calls them tens of thousands of times.
    """

    def __init__(self, expression: str, *, window: tuple[datetime, datetime], zone: ZoneInfo) -> None:
        super().__init__(expression, tzinfo=zone)
        first, last = (each.astimezone(zone).date() for each in (window[0], window[1] - timedelta(microseconds=1)))
        days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
        self.days = [(day, start_of_local_day(day, zone)) for day in days]

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> tuple[str, tuple[str | int, ...]]:
        """Return the local date as SQL for SQLite: nested CASE expressions that find the day as a binary search does."""
        time, parameters = compiler.compile(self.get_source_expressions()[0])
        days = [(str(day), connection.ops.adapt_datetimefield_value(begin)) for day, begin in self.days]

        def search(days: Sequence[tuple[str, str]]) -> tuple[str, tuple[str | int, ...]]:
            if len(days) == 1:
                return "%s", (days[0][0],)
            middle = len(days) // 2
            (earlier, of_earlier), (later, of_later) = search(days[:middle]), search(days[middle:])
            case = f"CASE WHEN {time} < %s THEN {earlier} ELSE {later} END"
            return case, (*parameters, days[middle][1], *of_earlier, *of_later)

        return search(days)


def scheduled_posts_of_day(
    *,
    caller: Caller,
    workspace_id: str,
    window: tuple[datetime, datetime],
    platform: str | None = None,
    account_id: str | None = None,
    limit: int,
    cursor: str | None = None,
) -> Page[PostSummary]:
    """Return a page of the post groups of which a target is scheduled on a day, by the time of the first one on that day.

    Drafts, rejected and cancelled groups are left out. Raises ScopeMissing, NotFound (also for an account of another
    workspace).
    """
    require_access(caller, workspace_id, "posts.read", write=False)
    require_account_and_agent_in_workspace(workspace_id, account_id=account_id)
    wanted = {"platform": platform, "account_id": account_id}
    filters = {name: value for name, value in wanted.items() if value is not None}
    after = decode_earliest_first_cursor(cursor, PostGroup)
    params = [*map(_stored_time, window), workspace_id, *filters.values()]
    params += [_stored_time(after[0]), after[1]] if after else []
    sql = _page_of_day_sql(tuple(filters), first_page=after is None)
    rows = read_post_summaries_by_sql(sql, [*params, limit + 1], order="page.scheduled_at, page.id", with_times=False)
    return page_of_rows_earliest_first(rows, field="scheduled_at", limit=limit)


@cache
def _page_of_day_sql(filters: tuple[str, ...], *, first_page: bool) -> str:
    """Return the SELECT of a page of a day; made by hand, because Django took as long to make it as the database to run it.

    It uses the index target_by_time, and reads each group once, since targets are grouped before they are joined with it.
    `filters` are columns of targets.
    """
    return f"""
SELECT g.id, g.status, listed.scheduled_at, g.text, g.sandbox, NULL AS created_at
FROM (
  SELECT t.group_id, MIN(t.scheduled_at) AS scheduled_at
  FROM posts_posttarget t JOIN accounts_connectedaccount a ON a.id = t.account_id
  WHERE COALESCE(t.scheduled_at, t.created_at) >= %s AND COALESCE(t.scheduled_at, t.created_at) < %s
    AND a.workspace_id = %s {"".join(f"AND t.{name} = %s " for name in filters)}
    AND t.scheduled_at IS NOT NULL AND t.status <> '{TargetStatus.CANCELLED}'
  GROUP BY t.group_id
) listed JOIN posts_postgroup g ON g.id = listed.group_id
WHERE g.status NOT IN ({", ".join(f"'{status}'" for status in STATUSES_NOT_IN_CALENDAR)})
  {"" if first_page else "AND (listed.scheduled_at, g.id) > (%s, %s)"}
ORDER BY listed.scheduled_at, g.id LIMIT %s"""  # noqa: S608 - only constants


def _stored_time(at: datetime) -> Any:
    """Return a time as an SQL parameter of the lists by day, compared with the times of post targets."""
    return PostTarget._meta.get_field("scheduled_at").get_db_prep_value(at, connection)


def list_first_posts_of_each_day(
    *,
    caller: Caller,
    workspace_id: str,
    window: tuple[datetime, datetime],
    zone: ZoneInfo,
    filters: CalendarFilters = CalendarFilters(),
    per_day: int,
    skip: int = 0,
) -> list[CalendarPost]:
    """Return the posts of each day that the dashboard's calendar shows, at most `per_day` for a local day, after `skip`.

    A group is returned once for each time of its targets. Targets without `scheduled_at` count at their creation time. Raises
    ScopeMissing, NotFound.
    """
    targets = _targets_in_calendar(caller, workspace_id, window, filters)
    by_moment = (
        targets.annotate(day=LocalDateInWindow("shown_at", window=window, zone=zone))
        .values("group_id", "day", "scheduled_at")
        .annotate(first_at=Min("shown_at"))
    )
    numbered = by_moment.annotate(
        on_day=Window(Count("group_id"), partition_by=[F("day")]),
        place=Window(RowNumber(), partition_by=[F("day")], order_by=[F("first_at"), F("group_id")]),
    )
    entries = list(numbered.filter(place__gt=skip, place__lte=skip + per_day).order_by("first_at", "group_id"))
    ids = {entry["group_id"] for entry in entries}
    excerpt = Left("text", EXCERPT_CHARACTERS)
    groups = {
        row[0]: row
        for row in PostGroup.objects.filter(pk__in=ids).values_list("id", "status", excerpt, "media", tags_expression())
    }
    of_group: dict[str, list[CalendarTarget]] = {group_id: [] for group_id in ids}
    columns = PostTarget.objects.filter(group__in=ids).order_by("position").values_list("group_id", *CalendarTarget._fields)
    for group_id, *row in columns:
        of_group[group_id].append(CalendarTarget._make(row))
    columns_of_entry = itemgetter("scheduled_at", "first_at", "day", "on_day")
    return [
        CalendarPost._make((*groups[entry["group_id"]], of_group[entry["group_id"]], *columns_of_entry(entry)))
        for entry in entries
    ]


def upcoming_posts(*, caller: Caller, workspace_id: str, limit: int) -> list[PostGroup]:
    """Query the released post groups whose targets are due on the next days, earliest first, with `shown_at`."""
    require_access(caller, workspace_id, "posts.read", write=False)
    now = timezone.now()
    targets = _targets_in_window(workspace_id, (now, now + MAX_SCHEDULE_AHEAD)).filter(
        status=TargetStatus.PENDING, due_at__isnull=False, scheduled_at__isnull=False
    )
    return list(_groups_of_targets(targets, "shown_at").order_by("shown_at", "pk")[:limit])  # type: ignore[misc]  # annotated


def targets_shown_in_calendar(
    workspace_id: str, window: tuple[datetime, datetime], *, account_id: str | None = None
) -> QuerySet[PostTarget]:
    """Query the targets that lists of posts by day show in a window of time, with their time `shown_at`."""
    rows = _targets_in_window(workspace_id, window, account_id=account_id)
    return rows.exclude(group__status=GroupStatus.PENDING_CONFIRMATION, scheduled_at=None)


def targets_in_calendars() -> QuerySet[Any]:
    """Query the targets that lists of posts by day may show, of released and waiting posts of all workspaces."""
    targets = PostTarget.objects.annotate(shown_at=SHOWN_AT).exclude(status=TargetStatus.CANCELLED)  # uses target_by_time
    return targets.exclude(group__status__in=STATUSES_NOT_IN_CALENDAR)


def _targets_in_window(
    workspace_id: str, window: tuple[datetime, datetime], *, account_id: str | None = None
) -> QuerySet[PostTarget]:
    """Return the targets for lists by day: of released and waiting posts in a window of time, with `shown_at`."""
    of_workspace = targets_in_calendars().filter(account__workspace_id=workspace_id)
    targets = of_workspace.filter(shown_at__gte=window[0], shown_at__lt=window[1])
    return targets if account_id is None else targets.filter(account_id=account_id)


def _targets_in_calendar(
    caller: Caller, workspace_id: str, window: tuple[datetime, datetime], filters: CalendarFilters
) -> QuerySet[PostTarget]:
    require_access(caller, workspace_id, "posts.read", write=False)
    require_account_and_agent_in_workspace(workspace_id, account_id=filters.account_id, agent_id=filters.agent_id)
    rows = targets_shown_in_calendar(workspace_id, window, account_id=filters.account_id)
    wanted = {"platform": filters.platform, "group__agent_id": filters.agent_id, "group__status": filters.status}
    rows = rows.filter(**{name: value for name, value in wanted.items() if value is not None})
    if filters.text:
        rows = rows.filter(Q(text__icontains=filters.text) | Q(text=None, group__text__icontains=filters.text))
    if filters.tag:
        rows = rows.filter(has_tag_condition(filters.tag, metadata="group__metadata"))
    return rows


def _groups_of_targets(targets: QuerySet[PostTarget], name: str) -> QuerySet[PostGroup]:
    """Return the post groups of a day's targets, annotated with the time of the first of these; see `CalendarTarget`."""
    first = {name: Min(Coalesce("targets__scheduled_at", "targets__created_at"))}
    groups = PostGroup.objects.filter(targets__in=targets.values("pk")).annotate(**first)
    return groups.prefetch_related(Prefetch("targets", PostTarget.objects.order_by("position")))
