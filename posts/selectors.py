"""Reads of post groups."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from django.db.models import Prefetch, QuerySet
from django.utils import timezone

from config.api.caller import Caller, require
from config.api.errors import NotFound
from config.api.scopes import AnyOf
from posts.models import PostGroup, PostTarget
from posts.states import TargetStatus

SAME_CONTENT_WINDOW = timedelta(hours=24)


def groups_with_targets() -> QuerySet[PostGroup]:
    """Groups with their targets in order: two queries, however many."""
    return PostGroup.objects.prefetch_related(Prefetch("targets", PostTarget.objects.order_by("position")))


def group_of(
    *, caller: Caller, post_group_id: str, scope: str | AnyOf = "posts.read", write: bool = False
) -> PostGroup:
    """A group that exists for this caller. Raises NotFound, ScopeMissing, WorkspacePaused."""
    group = groups_with_targets().filter(pk=post_group_id).first()
    if group is None:
        raise NotFound("There is no such post group.")
    require(caller, group.workspace_id, scope, write=write)
    return group


def earlier_groups_with(*, contents: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Of pairs (account id, content hash): those that the account was sent within 24 hours, with that group's id."""
    wanted = set(contents)
    rows = (
        PostTarget.objects.filter(
            account_id__in={account for account, _ in wanted},
            content_sha256__in={content for _, content in wanted},
            created_at__gte=timezone.now() - SAME_CONTENT_WINDOW,
        )
        .exclude(status__in=[TargetStatus.FAILED, TargetStatus.CANCELLED])
        .order_by("created_at")
        .values_list("account_id", "content_sha256", "group_id")
    )
    return {(account, content): group for account, content, group in rows if (account, content) in wanted}
