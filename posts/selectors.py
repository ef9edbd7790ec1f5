"""Reads of post groups."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from django.db.models import Prefetch, QuerySet
from django.utils import timezone

from config.api.caller import Caller, absent, require
from config.api.scopes import AnyOf
from config.db.ids import is_id
from posts.models import PostGroup, PostTarget
from posts.states import UNRELEASED, TargetStatus

SAME_CONTENT_WINDOW = timedelta(hours=24)


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


def earlier_groups_with(*, contents: Iterable[tuple[str, str, bool]]) -> dict[tuple[str, str, bool], str]:
    """Of (account id, content hash, sandbox): what the account was sent within 24 hours, with that group's id."""
    wanted = set(contents)
    rows = (
        PostTarget.objects.filter(
            account_id__in={account for account, _, _ in wanted},
            content_sha256__in={content for _, content, _ in wanted},
            created_at__gte=timezone.now() - SAME_CONTENT_WINDOW,
        )
        .exclude(status__in=[TargetStatus.FAILED, TargetStatus.CANCELLED])
        .exclude(group__status__in=UNRELEASED)
        .order_by("created_at")
        .values_list("account_id", "content_sha256", "sandbox", "group_id")
    )
    return {
        (account, content, sandbox): group
        for account, content, sandbox, group in rows
        if (account, content, sandbox) in wanted
    }
