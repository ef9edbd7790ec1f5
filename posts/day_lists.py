"""Queries of the posts of a day or of several days: a post is listed once on each day on which one of its targets lies."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.db.models import Count, F, Min, Q, QuerySet, Window
from django.db.models.functions import Coalesce, Left, RowNumber, TruncDate
from django.db.models.lookups import GreaterThanOrEqual, LessThan
from django.utils import timezone

from config.api.caller import Caller, require_access
from config.api.paging import Page, paginate_earliest_first
from posts.local_time import start_of_local_day
from posts.models import PostGroup, PostTarget
from posts.selectors import groups_with_targets, require_in_workspace
from posts.states import GroupStatus, TargetStatus
from posts.summaries import PostSummary, fetch_post_summaries
from posts.target_times import MAX_SCHEDULE_AHEAD

STATUSES_NOT_IN_CALENDAR = (GroupStatus.DRAFT, GroupStatus.REJECTED, GroupStatus.CANCELLED)
EXCERPT_CHARACTERS = 80  # beginning of the text that the calendar shows
_STATUSES_IN_CALENDAR = [status for status in TargetStatus if status != TargetStatus.CANCELLED]
SHOWN_AT = Coalesce("scheduled_at", "created_at")


@dataclass(frozen=True)
class CalendarFilters:
    """What the dashboard's calendar shows of a workspace's posts; None or an empty text shows all of them."""

    account_id: str | None = None
    agent_id: str | None = None
    platform: str | None = None
    status: str | None = None
    text: str = ""
    tag: str = ""


class CalendarTarget(NamedTuple):
    """A target of a post in the calendar: the columns that say where and when it is published, and whether it can move.

    `avatar_digest` identifies the picture of its account; it is empty without one.
    """

    platform: str
    status: str
    scheduled_at: datetime | None
    lease_until: datetime | None
    attempts: int
    account_id: str
    avatar_digest: str


class CalendarPost(NamedTuple):
    """A post at one of the times of its targets, as calendars show it; models of the same rows take four times as long.

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


_TARGET_COLUMNS = (*CalendarTarget._fields[:-1], "account__avatar_digest")


class DayOfWindow(TruncDate):
    """The local date of a time within a window; on SQLite by comparison with the midnights of the window's days.

    SQLite's functions for time zones are written in Python, and a month of posts calls them tens of thousands of times.
    """

    def __init__(self, expression: str, *, window: tuple[datetime, datetime], zone: ZoneInfo) -> None:
        super().__init__(expression, tzinfo=zone)
        first, last = (each.astimezone(zone).date() for each in (window[0], window[1] - timedelta(microseconds=1)))
        days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
        self.days = [(day, start_of_local_day(day, zone)) for day in days]

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> tuple[str, tuple[str | int, ...]]:
        """Return nested CASE expressions that find the day as a binary search does."""
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
    require_in_workspace(workspace_id, account_id=account_id)
    # One join, since a query of the window's targets inside that of the groups takes about a quarter more time.
    time = Coalesce("targets__scheduled_at", "targets__created_at")  # uses the index target_by_time
    wanted = {"targets__platform": platform, "targets__account_id": account_id}
    rows = PostGroup.objects.filter(
        GreaterThanOrEqual(time, window[0]),
        LessThan(time, window[1]),
        targets__account__workspace_id=workspace_id,
        targets__scheduled_at__isnull=False,
        targets__status__in=_STATUSES_IN_CALENDAR,
        **{name: value for name, value in wanted.items() if value is not None},
    ).exclude(status__in=STATUSES_NOT_IN_CALENDAR)
    rows = rows.annotate(listed_at=Min("targets__scheduled_at"))
    return paginate_earliest_first(rows, field="listed_at", limit=limit, cursor=cursor, fetch=fetch_post_summaries)


def first_calendar_posts_per_day(
    *,
    caller: Caller,
    workspace_id: str,
    window: tuple[datetime, datetime],
    zone: ZoneInfo,
    filters: CalendarFilters = CalendarFilters(),
    per_day: int,
    skip: int = 0,
) -> list[PostGroup]:
    """Return the posts of each day that the dashboard's calendar shows, at most `per_day` for a local day, after `skip`.

    A group is returned once for each time of its targets. Targets without `scheduled_at` count at their creation time.
    Annotates `excerpt`, the beginning of the text; `moment`, the time that these targets have, None without one; `shown_at`,
    the time at which they are shown; the local `day`; and `on_day`, the number of entries on it. Raises ScopeMissing,
    NotFound.
    """
    targets = _targets_in_calendar(caller, workspace_id, window, filters)
    by_moment = (
        targets.annotate(day=TruncDate("shown_at", tzinfo=zone))
        .values("group_id", "day", "scheduled_at")
        .annotate(first_at=Min("shown_at"))
    )
    numbered = by_moment.annotate(
        on_day=Window(Count("group_id"), partition_by=[F("day")]),
        place=Window(RowNumber(), partition_by=[F("day")], order_by=[F("first_at"), F("group_id")]),
    )
    entries = list(numbered.filter(place__gt=skip, place__lte=skip + per_day).order_by("first_at", "group_id"))
    shown = groups_with_targets().annotate(excerpt=Left("text", EXCERPT_CHARACTERS)).defer("text", "metadata")
    groups = shown.in_bulk([entry["group_id"] for entry in entries])
    found: list[PostGroup] = []
    for entry in entries:
        found.append(copy(groups[entry["group_id"]]))
        shown_at, day, on_day = entry["first_at"], entry["day"], entry["on_day"]
        vars(found[-1]).update(moment=entry["scheduled_at"], shown_at=shown_at, day=day, on_day=on_day)
    return found


def upcoming_posts(*, caller: Caller, workspace_id: str, limit: int) -> list[PostGroup]:
    """Return the released post groups whose targets are due next, earliest first. Annotates `shown_at`. Raises NotFound."""
    require_access(caller, workspace_id, "posts.read", write=False)
    now = timezone.now()
    targets = _targets_in_window(workspace_id, (now, now + MAX_SCHEDULE_AHEAD)).filter(
        status=TargetStatus.PENDING, due_at__isnull=False, scheduled_at__isnull=False
    )
    return list(_groups_of_targets(targets, "shown_at").order_by("shown_at", "pk")[:limit])  # type: ignore[misc]  # annotated


def calendar_targets(
    workspace_id: str, window: tuple[datetime, datetime], *, account_id: str | None = None
) -> QuerySet[PostTarget]:
    """Return the targets that calendars show in a window of time, with their time `shown_at`."""
    rows = _targets_in_window(workspace_id, window, account_id=account_id)
    return rows.exclude(group__status=GroupStatus.PENDING_CONFIRMATION, scheduled_at=None)


def _targets_in_window(
    workspace_id: str, window: tuple[datetime, datetime], *, account_id: str | None = None
) -> QuerySet[PostTarget]:
    """Return the targets of released and waiting posts in a window of time, with their time `shown_at`."""
    targets = (
        PostTarget.objects.annotate(shown_at=SHOWN_AT)  # uses the index target_by_time
        .filter(account__workspace_id=workspace_id, shown_at__gte=window[0], shown_at__lt=window[1])
        .exclude(status=TargetStatus.CANCELLED)
        .exclude(group__status__in=STATUSES_NOT_IN_CALENDAR)
    )
    return targets if account_id is None else targets.filter(account_id=account_id)


def _targets_in_calendar(
    caller: Caller, workspace_id: str, window: tuple[datetime, datetime], filters: CalendarFilters
) -> QuerySet[PostTarget]:
    require_access(caller, workspace_id, "posts.read", write=False)
    require_in_workspace(workspace_id, account_id=filters.account_id, agent_id=filters.agent_id)
    rows = calendar_targets(workspace_id, window, account_id=filters.account_id)
    wanted = {"platform": filters.platform, "group__agent_id": filters.agent_id, "group__status": filters.status}
    rows = rows.filter(**{name: value for name, value in wanted.items() if value is not None})
    if filters.text:
        rows = rows.filter(Q(text__icontains=filters.text) | Q(text=None, group__text__icontains=filters.text))
    return rows


def _groups_of_targets(targets: QuerySet[PostTarget], name: str) -> QuerySet[PostGroup]:
    """Return the post groups of these targets, annotated with the time of the first of them."""
    first = {name: Min(Coalesce("targets__scheduled_at", "targets__created_at"))}
    return groups_with_targets().filter(targets__in=targets.values("pk")).annotate(**first)
