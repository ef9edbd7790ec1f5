"""Queries of posts by day, such as for the calendar: a post is listed once on each day with a time of its targets."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from itertools import filterfalse, groupby, pairwise
from operator import itemgetter
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.db import connection
from django.db.models import BooleanField, ExpressionWrapper, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from config.api.caller import Caller, require_access
from config.api.paging import Page, build_page_of_read_rows_earliest_first, decode_earliest_first_cursor_or_none
from config.db.fast_read import (
    column_converters_of_fields,
    convert_columns_in_place,
    in_list_condition,
    list_parameter,
    read_rows,
)
from posts.calendar_posts import CalendarPost, calendar_columns_of_groups
from posts.local_time import start_of_local_day
from posts.models import PostGroup, PostTarget
from posts.selectors import groups_prefetching_targets, require_account_and_agent_in_workspace
from posts.states import GroupStatus, TargetStatus
from posts.summaries import PostSummary, read_post_summaries_of_select
from posts.tags import tag_condition
from posts.target_times import MAX_SCHEDULE_AHEAD

STATUSES_NOT_IN_CALENDAR = (GroupStatus.DRAFT, GroupStatus.REJECTED, GroupStatus.CANCELLED)
MAX_TARGETS = 200_000  # of a window of time, earliest first; the others have no entries, so that memory is bounded
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
    """Return a page of the post groups with a target scheduled on a given day, sorted by their first time on that day.

    Drafts, rejected and cancelled groups are left out. Raises ScopeMissing, NotFound (also for an account of another
    workspace).
    """
    require_access(caller, workspace_id, "posts.read", write=False)
    require_account_and_agent_in_workspace(workspace_id, account_id=account_id)
    wanted = {"platform": platform, "account_id": account_id}
    filters = {name: value for name, value in wanted.items() if value is not None}
    after = decode_earliest_first_cursor_or_none(cursor, PostGroup)
    params = [*map(_stored_time, window), workspace_id, *filters.values()]
    params += [_stored_time(after[0]), after[1]] if after else []
    sql = _page_of_day_sql(tuple(filters), first_page=after is None)
    rows = read_post_summaries_of_select(sql, [*params, limit + 1], order="page.scheduled_at, page.id", with_times=False)
    return build_page_of_read_rows_earliest_first(rows, field="scheduled_at", limit=limit)


@cache
def _page_of_day_sql(filters: tuple[str, ...], *, first_page: bool) -> str:
    """Return the SQL for a page of a day's posts; written by hand, as Django took as long to build it as the query ran.

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
    """Convert a time to an SQL parameter that the lists of posts by day compare with the stored times of post targets."""
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
    """Return the posts of each local day in the dashboard's calendar: at most `per_day`, after leaving out `skip`.

    A group is returned once for each time of its targets. Targets without `scheduled_at` count at their creation time. Raises
    ScopeMissing, NotFound.
    """
    targets = _targets_in_calendar(caller, workspace_id, window, filters)
    entries = _first_entries_of_each_day(targets, window, zone, slice(skip, skip + per_day))
    groups = calendar_columns_of_groups({entry.group_id for entry in entries})
    return [
        CalendarPost._make(
            (*groups[each.group_id], each.shown_at if each.is_scheduled else None, each.shown_at, each.day, each.on_day)
        )
        for each in entries
    ]


# A target that the calendar shows: its time as the database returns it, since converting all takes too long; the id of its
# group; and whether it has a time of its own, or is shown at its creation.
_ShownTarget = tuple[Any, str, bool]


class _DayEntry(NamedTuple):
    """An entry of the lists of posts by day: a post at the time of a target; without a time, at the target's creation."""

    shown_at: datetime
    group_id: str
    is_scheduled: bool
    day: date
    on_day: int


def _first_entries_of_each_day(
    targets: QuerySet[PostTarget], window: tuple[datetime, datetime], zone: ZoneInfo, places: slice
) -> list[_DayEntry]:
    """For lists of posts by day, return each local day's entries in the slice `places`, such as the first ten.

    They are grouped here, because a month took SQLite three times as long with window functions.
    """
    first, last = (each.astimezone(zone).date() for each in (window[0], window[1] - timedelta(microseconds=1)))
    days = [first + timedelta(days=number) for number in range((last - first).days + 2)]
    rows, found = _read_shown_targets(targets), []
    begins = [bisect(rows, (_stored_time(start_of_local_day(day, zone)),)) for day in days]
    for day, (begin, end) in zip(days, pairwise(begins), strict=False):
        entries = _without_repetitions(rows[begin:end])
        found += [[*row, day, len(entries)] for row in entries[places]]
    convert_columns_in_place(found, column_converters_of_fields([PostTarget._meta.get_field("scheduled_at")]))
    return [_DayEntry._make(row) for row in found]


def _without_repetitions(targets: Sequence[_ShownTarget]) -> list[_ShownTarget]:
    """For lists of posts by day, keep one target of a post for each time, and one of its targets without a time."""
    distinct = [target for target, _ in groupby(targets)]
    first_of_group: dict[str, _ShownTarget] = {}
    for target in filterfalse(itemgetter(2), distinct):
        first_of_group.setdefault(target[1], target)
    return [each for each in distinct if each[2] or each is first_of_group[each[1]]] if first_of_group else distinct


def _read_shown_targets(targets: QuerySet[Any]) -> list[_ShownTarget]:
    """Read the targets that the calendar shows, in order; of a post group awaiting approval, only targets with a time.

    The groups are read only of targets that are pending and not due, since all others belong to released groups. Reading all
    groups would take longer than reading the targets.
    """
    flags = {
        "is_scheduled": ExpressionWrapper(Q(scheduled_at__isnull=False), BooleanField()),
        "may_be_unreleased": ExpressionWrapper(Q(status=TargetStatus.PENDING, due_at=None), BooleanField()),
    }
    ordered = targets.annotate(**flags).order_by("shown_at", "group_id", "is_scheduled")[:MAX_TARGETS]
    sql, parameters = ordered.values_list("shown_at", "group_id", *flags).query.sql_with_params()
    rows: Any = read_rows(sql, parameters, [])
    unreleased = {group_id for _, group_id, _, may_be_unreleased in rows if may_be_unreleased}
    by_id = f"SELECT id, status FROM posts_postgroup WHERE {in_list_condition('id')}"  # noqa: S608 - only constants
    statuses = read_rows(by_id, [list_parameter(unreleased)], []) if unreleased else []
    hidden = {pk for pk, status in statuses if status in STATUSES_NOT_IN_CALENDAR}
    waiting = {pk for pk, status in statuses if status == GroupStatus.PENDING_CONFIRMATION}
    return [row[:3] for row in rows if row[1] not in hidden and (row[2] or row[1] not in waiting)]


def next_released_posts(*, caller: Caller, workspace_id: str, limit: int) -> list[PostGroup]:
    """For lists of posts by day, query the next released post groups to publish, at most `limit`, earliest first.

    Each has `shown_at`, the time of its first target.
    """
    require_access(caller, workspace_id, "posts.read", write=False)
    now = timezone.now()
    in_time: QuerySet[Any] = _targets_in_window(workspace_id, (now, now + MAX_SCHEDULE_AHEAD))
    targets = in_time.filter(status=TargetStatus.PENDING, due_at__isnull=False, scheduled_at__isnull=False)
    by_group = targets.values("group_id").annotate(first_at=Min("shown_at")).order_by("first_at", "group_id")
    first_at = targets.filter(group=OuterRef("pk")).order_by("shown_at").values("shown_at")[:1]
    groups: QuerySet[Any] = groups_prefetching_targets().filter(pk__in=by_group.values("group_id")[:limit])
    return list(groups.annotate(shown_at=Subquery(first_at)).order_by("shown_at", "pk"))


def targets_shown_in_calendar(
    workspace_id: str, window: tuple[datetime, datetime], *, account_id: str | None = None
) -> QuerySet[PostTarget]:
    """Query the targets that lists of posts by day show in a window of time, with their time `shown_at`."""
    rows = _targets_in_window(workspace_id, window, account_id=account_id)
    rows = rows.exclude(group__status__in=STATUSES_NOT_IN_CALENDAR)
    return rows.exclude(group__status=GroupStatus.PENDING_CONFIRMATION, scheduled_at=None)


def possible_calendar_targets_of_all_workspaces() -> QuerySet[Any]:
    """Query the targets that lists of posts by day may show, of released and waiting posts of all workspaces."""
    return _uncancelled_targets().exclude(group__status__in=STATUSES_NOT_IN_CALENDAR)


def _uncancelled_targets() -> QuerySet[Any]:
    return PostTarget.objects.annotate(shown_at=SHOWN_AT).exclude(status=TargetStatus.CANCELLED)


def _targets_in_window(
    workspace_id: str, window: tuple[datetime, datetime], *, account_id: str | None = None
) -> QuerySet[PostTarget]:
    """Return a workspace's uncancelled targets in a window of time, also those of drafts, annotated with `shown_at`."""
    of_workspace = _uncancelled_targets().filter(account__workspace_id=workspace_id)
    targets = of_workspace.filter(shown_at__gte=window[0], shown_at__lt=window[1])  # uses target_by_time
    return targets if account_id is None else targets.filter(account_id=account_id)


def _targets_in_calendar(
    caller: Caller, workspace_id: str, window: tuple[datetime, datetime], filters: CalendarFilters
) -> QuerySet[PostTarget]:
    require_access(caller, workspace_id, "posts.read", write=False)
    require_account_and_agent_in_workspace(workspace_id, account_id=filters.account_id, agent_id=filters.agent_id)
    rows = _targets_in_window(workspace_id, window, account_id=filters.account_id)
    wanted = {"platform": filters.platform, "group__agent_id": filters.agent_id, "group__status": filters.status}
    rows = rows.filter(**{name: value for name, value in wanted.items() if value is not None})
    if filters.text:
        rows = rows.filter(Q(text__icontains=filters.text) | Q(text=None, group__text__icontains=filters.text))
    if filters.tag:
        rows = rows.filter(tag_condition(filters.tag, metadata="group__metadata"))
    return rows
