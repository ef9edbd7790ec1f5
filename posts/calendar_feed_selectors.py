"""Database queries of calendar feeds (secret addresses that calendar programs subscribe to), and of the targets they show."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone

from accounts.models import ConnectedAccount
from agents.tokens import is_well_formed_token, token_digest
from config.api.caller import Caller, WorkspaceStatus, require_access
from config.api.errors import UserSessionRequired, missing_or_foreign_id_error
from config.api.paging import Page, paginate_newest_first
from config.db.ids import is_id
from posts.day_lists import possible_calendar_targets_of_all_workspaces, targets_shown_in_calendar
from posts.models import CalendarFeed, PostTarget
from posts.target_times import MAX_SCHEDULE_AHEAD

SHOWN_BEFORE = timedelta(days=90)
MAX_TARGETS_BEFORE, MAX_TARGETS_AHEAD = 500, 1500  # those nearest to now


def require_person_who_may_read_posts(caller: Caller, workspace_id: str, *, write: bool) -> None:
    """Raise an ApiError unless the caller of a query of calendar feeds is a person who may read the workspace's posts.

    Raises NotFound, UserSessionRequired, WorkspacePaused.
    """
    require_access(caller, workspace_id, None, write=write and caller.is_user)
    if not caller.is_user:
        raise UserSessionRequired()


def list_calendar_feeds(*, caller: Caller, workspace_id: str, limit: int, cursor: str | None = None) -> Page[CalendarFeed]:
    """Calendar feed query: return a page of a workspace's feeds, newest first. Raises UserSessionRequired, NotFound."""
    require_person_who_may_read_posts(caller, workspace_id, write=False)
    return paginate_newest_first(_feeds().filter(member__workspace_id=workspace_id), limit=limit, cursor=cursor)


def feed_with_id(*, caller: Caller, workspace_id: str, feed_id: str, write: bool = False) -> CalendarFeed:
    """Calendar feed query: return the feed with this id. Raises UserSessionRequired, NotFound, WorkspacePaused."""
    require_person_who_may_read_posts(caller, workspace_id, write=write)
    found = _feeds().filter(pk=feed_id, member__workspace_id=workspace_id).first() if is_id(feed_id, "cal") else None
    if found is None:
        raise missing_or_foreign_id_error(None, "calendar feed")
    return found


def feed_with_token(token: str) -> CalendarFeed | None:
    """Calendar feed query: return the feed whose address has this token; None without one in an undeleted workspace."""
    if not is_well_formed_token(token):
        return None
    living = CalendarFeed.objects.exclude(member__workspace__status=WorkspaceStatus.DELETED)
    return living.select_related("member__workspace").filter(token_sha256=token_digest(token)).first()


def targets_in_feed(workspace_id: str) -> list[PostTarget]:
    """Calendar feed query: return the targets that a feed shows, earliest first, with their accounts and post groups.

    They are those from 90 days ago to 366 days ahead, but at most MAX_TARGETS_BEFORE and MAX_TARGETS_AHEAD. Annotates
    `shown_at`. Runs three queries, which read a limited number of rows for each account.
    """
    now = timezone.now()
    begin, end = _window_with_enough_targets(workspace_id, now)
    before = _targets(workspace_id, (begin, now)).order_by("-shown_at", "-pk")[:MAX_TARGETS_BEFORE]
    ahead = _targets(workspace_id, (now, end)).order_by("shown_at", "pk")[:MAX_TARGETS_AHEAD]
    return [*reversed(before), *ahead]


def _window_with_enough_targets(workspace_id: str, now: datetime) -> tuple[datetime, datetime]:
    """Return the time span in which a calendar feed reads targets, shortened if those of one account already fill the feed.

    The feed shows MAX_TARGETS_BEFORE and MAX_TARGETS_AHEAD targets at most, whatever their accounts.
    """
    begin, end = now - SHOWN_BEFORE, now + MAX_SCHEDULE_AHEAD
    of_account = possible_calendar_targets_of_all_workspaces().filter(account=OuterRef("pk"))
    before = of_account.filter(shown_at__gte=begin, shown_at__lt=now).order_by("-shown_at").values("shown_at")
    ahead = of_account.filter(shown_at__gte=now, shown_at__lt=end).order_by("shown_at").values("shown_at")
    times: dict[str, Any] = {
        "first": Subquery(before[MAX_TARGETS_BEFORE : MAX_TARGETS_BEFORE + 1]),
        "last": Subquery(ahead[MAX_TARGETS_AHEAD : MAX_TARGETS_AHEAD + 1]),
    }
    accounts: QuerySet[Any] = ConnectedAccount.objects.filter(workspace_id=workspace_id).annotate(**times)
    limits = list(accounts.values_list("first", "last"))
    return max([begin, *(first for first, _ in limits if first)]), min([end, *(last for _, last in limits if last)])


def _targets(workspace_id: str, window: tuple[datetime, datetime]) -> QuerySet[Any]:
    targets = targets_shown_in_calendar(workspace_id, window).select_related("account", "group")
    return targets.defer("account__credentials", "account__tokens", "group__media", "group__metadata", "progress", "options")


def _feeds() -> QuerySet[CalendarFeed]:
    return CalendarFeed.objects.select_related("member__user")
