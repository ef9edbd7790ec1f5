"""Reads of post groups."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Prefetch, QuerySet
from django.utils import timezone

from accounts.models import ConnectedAccount
from agents.models import Agent
from config.api.caller import Caller, absent, require
from config.api.paging import Page, paginate, paginate_by_time
from config.api.scopes import AnyOf
from config.db.ids import is_id
from posts.models import PostGroup, PostTarget
from posts.states import UNRELEASED, GroupStatus, TargetStatus
from workspaces.models import Workspace

SAME_CONTENT_WINDOW = timedelta(hours=24)
NOT_ON_A_DAY = (GroupStatus.DRAFT, GroupStatus.REJECTED, GroupStatus.CANCELLED)


def groups_with_targets() -> QuerySet[PostGroup]:
    """Groups with their targets in order: two queries, however many."""
    return PostGroup.objects.prefetch_related(Prefetch("targets", PostTarget.objects.order_by("position")))


def group_of(
    *, caller: Caller, post_group_id: str, scope: str | AnyOf = "posts.read", write: bool = False
) -> PostGroup:
    """A group that exists for this caller. Raises NotFound, ScopeMissing, WorkspacePaused."""
    rows = groups_with_targets().filter(pk=post_group_id)
    if not caller.is_user:
        rows = rows.filter(workspace_id=caller.workspace_id)
    group = rows.first() if is_id(post_group_id, "pgr") else None
    if group is None:
        raise absent(None, "post group")
    require(caller, group.workspace_id, scope, write=write, noun="post group")
    return group


def earlier_groups_with(
    *, contents: Iterable[tuple[str, str, bool]], but: str = ""
) -> dict[tuple[str, str, bool], str]:
    """Of (account id, content hash, sandbox): what the account was sent within 24 hours, with that group's id.

    The group `but` is left out.
    """
    wanted = set(contents)
    rows = (
        PostTarget.objects.filter(
            account_id__in={account for account, _, _ in wanted},
            content_sha256__in={content for _, content, _ in wanted},
            created_at__gte=timezone.now() - SAME_CONTENT_WINDOW,
        )
        .exclude(status__in=[TargetStatus.FAILED, TargetStatus.CANCELLED])
        .exclude(group__status__in=UNRELEASED)
        .exclude(group_id=but)
        .order_by("created_at")
        .values_list("account_id", "content_sha256", "sandbox", "group_id")
    )
    return {
        (account, content, sandbox): group
        for account, content, sandbox, group in rows
        if (account, content, sandbox) in wanted
    }


def posts_on_day(
    *,
    caller: Caller,
    workspace_id: str,
    window: tuple[datetime, datetime],
    platform: str | None = None,
    account_id: str | None = None,
    limit: int,
    cursor: str | None = None,
) -> Page[PostGroup]:
    """The groups whose time lies in the window, earliest first; drafts, rejected and cancelled ones are left out.

    Raises ScopeMissing, NotFound (also for an account that is not the workspace's).
    """
    require(caller, workspace_id, "posts.read", write=False)
    _require_in(workspace_id, account_id=account_id)
    rows = _with_target(groups_with_targets().filter(workspace_id=workspace_id), platform, account_id)
    rows = rows.filter(scheduled_at__gte=window[0], scheduled_at__lt=window[1]).exclude(status__in=NOT_ON_A_DAY)
    return paginate_by_time(rows, field="scheduled_at", limit=limit, cursor=cursor)


def search_posts(
    *,
    caller: Caller,
    workspace_id: str,
    status: str | None = None,
    platform: str | None = None,
    account_id: str | None = None,
    agent_id: str | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
    limit: int,
    cursor: str | None = None,
) -> Page[PostGroup]:
    """The workspace's groups that fit all filters, newest first.

    Raises ScopeMissing, NotFound (also for an account or agent that is not the workspace's).
    """
    require(caller, workspace_id, "posts.read", write=False)
    _require_in(workspace_id, account_id=account_id, agent_id=agent_id)
    wanted = {
        "status": status,
        "agent_id": agent_id,
        "created_at__gt": created_after,
        "created_at__lt": created_before,
    }
    rows = groups_with_targets().filter(
        workspace_id=workspace_id, **{name: value for name, value in wanted.items() if value is not None}
    )
    return paginate(_with_target(rows, platform, account_id), limit=limit, cursor=cursor)


def timezone_of(*, workspace_id: str) -> str:
    """The workspace's default time zone."""
    return Workspace.objects.values_list("default_timezone", flat=True).get(pk=workspace_id)


def _require_in(workspace_id: str, *, account_id: str | None, agent_id: str | None = None) -> None:
    """Raises NotFound for what a list is to be filtered by and the workspace does not hold."""
    if account_id and not ConnectedAccount.objects.filter(pk=account_id, workspace_id=workspace_id).exists():
        raise absent(None, "account")
    if agent_id and not Agent.objects.filter(pk=agent_id, workspace_id=workspace_id).exists():
        raise absent(None, "agent")


def _with_target(rows: QuerySet[PostGroup], platform: str | None, account_id: str | None) -> QuerySet[PostGroup]:
    """Groups one of whose targets is of this platform and account."""
    wanted = {name: value for name, value in (("platform", platform), ("account_id", account_id)) if value is not None}
    return rows.filter(Exists(PostTarget.objects.filter(group=OuterRef("pk"), **wanted))) if wanted else rows
