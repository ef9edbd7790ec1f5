"""Queries of the posts of a day or of several days: a post is listed once on each day on which one of its targets lies."""

from __future__ import annotations

from copy import copy
from datetime import datetime
from zoneinfo import ZoneInfo

from django.db.models import Count, F, Min, QuerySet, Window
from django.db.models.functions import Coalesce, Left, RowNumber, TruncDate
from django.utils import timezone

from config.api.caller import Caller, require_access
from config.api.paging import Page, paginate_earliest_first
from posts.models import PostGroup, PostTarget
from posts.selectors import groups_with_targets, require_in_workspace
from posts.states import GroupStatus, TargetStatus
from posts.summaries import PostSummary, fetch_post_summaries
from posts.target_times import MAX_SCHEDULE_AHEAD

STATUSES_NOT_IN_CALENDAR = (GroupStatus.DRAFT, GroupStatus.REJECTED, GroupStatus.CANCELLED)
EXCERPT_CHARACTERS = 80  # beginning of the text that the calendar shows
SHOWN_AT = Coalesce("scheduled_at", "created_at")


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
    targets = _targets_in_window(workspace_id, window, platform=platform, account_id=account_id)
    rows = _groups_of_targets(targets.filter(scheduled_at__isnull=False), "listed_at")
    return paginate_earliest_first(rows, field="listed_at", limit=limit, cursor=cursor, fetch=fetch_post_summaries)


def calendar_posts_of_day(
    *,
    caller: Caller,
    workspace_id: str,
    window: tuple[datetime, datetime],
    account_id: str | None = None,
    agent_id: str | None = None,
    limit: int,
    cursor: str | None = None,
) -> Page[PostGroup]:
    """Return a page of the post groups that the dashboard's calendar shows for one day, earliest first.

    Targets without `scheduled_at` count at their creation time. Annotates `shown_at`, the time of the group's first target on
    that day, and `excerpt`, the beginning of its text. Raises ScopeMissing, NotFound.
    """
    targets = _targets_in_calendar(caller, workspace_id, window, account_id, agent_id)
    rows = _for_calendar(_groups_of_targets(targets, "shown_at"))
    return paginate_earliest_first(rows, field="shown_at", limit=limit, cursor=cursor)


def first_calendar_posts_per_day(
    *,
    caller: Caller,
    workspace_id: str,
    window: tuple[datetime, datetime],
    zone: ZoneInfo,
    account_id: str | None = None,
    agent_id: str | None = None,
    per_day: int,
) -> list[PostGroup]:
    """Return the first posts of each day that the dashboard's calendar shows, at most `per_day` for a local day.

    A group is returned once for each day on which one of its targets lies. Annotates what `calendar_posts_of_day` does, and
    the local `day` and `on_day`, the number of groups on it. Raises ScopeMissing, NotFound.
    """
    targets = _targets_in_calendar(caller, workspace_id, window, account_id, agent_id)
    by_day = (
        targets.annotate(day=TruncDate("shown_at", tzinfo=zone)).values("group_id", "day").annotate(first_at=Min("shown_at"))
    )
    numbered = by_day.annotate(
        on_day=Window(Count("group_id"), partition_by=[F("day")]),
        place=Window(RowNumber(), partition_by=[F("day")], order_by=[F("first_at"), F("group_id")]),
    )
    entries = list(numbered.filter(place__lte=per_day).order_by("first_at", "group_id"))
    groups = _for_calendar(groups_with_targets()).in_bulk([entry["group_id"] for entry in entries])
    found = []
    for entry in entries:
        found.append(copy(groups[entry["group_id"]]))
        vars(found[-1]).update(shown_at=entry["first_at"], day=entry["day"], on_day=entry["on_day"])
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
    workspace_id: str, window: tuple[datetime, datetime], *, platform: str | None = None, account_id: str | None = None
) -> QuerySet[PostTarget]:
    """Return the targets of released and waiting posts in a window of time, with their time `shown_at`."""
    wanted = {"platform": platform, "account_id": account_id}
    return (
        PostTarget.objects.annotate(shown_at=SHOWN_AT)  # uses the index target_by_time
        .filter(account__workspace_id=workspace_id, shown_at__gte=window[0], shown_at__lt=window[1])
        .filter(**{name: value for name, value in wanted.items() if value is not None})
        .exclude(status=TargetStatus.CANCELLED)
        .exclude(group__status__in=STATUSES_NOT_IN_CALENDAR)
    )


def _targets_in_calendar(
    caller: Caller, workspace_id: str, window: tuple[datetime, datetime], account_id: str | None, agent_id: str | None
) -> QuerySet[PostTarget]:
    require_access(caller, workspace_id, "posts.read", write=False)
    require_in_workspace(workspace_id, account_id=account_id, agent_id=agent_id)
    rows = calendar_targets(workspace_id, window, account_id=account_id)
    return rows.filter(group__agent_id=agent_id) if agent_id else rows


def _groups_of_targets(targets: QuerySet[PostTarget], name: str) -> QuerySet[PostGroup]:
    """Return the post groups of these targets, annotated with the time of the first of them."""
    first = {name: Min(Coalesce("targets__scheduled_at", "targets__created_at"))}
    return groups_with_targets().filter(targets__in=targets.values("pk")).annotate(**first)


def _for_calendar(groups: QuerySet[PostGroup]) -> QuerySet[PostGroup]:
    return groups.annotate(excerpt=Left("text", EXCERPT_CHARACTERS)).defer("text", "media", "metadata")
