"""Cancellation of post groups that have not started publishing, and of the unfinished posts of deleted workspaces."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.utils import timezone

from config.api.caller import Caller, WorkspaceStatus, check_account_allowlist, require_access
from config.api.scopes import any_scope_of
from posts import selectors
from posts.models import PostGroup
from posts.plan import GroupChange, Plan, copy_of_group
from posts.plan_building import is_scheduled_or_publishing
from posts.services.changes import (
    end_unsaved_group_if_all_targets_ended,
    existing_assets_of_group,
    is_pending_and_unclaimed,
    mark_cancelled_or_unconfirmed_unsaved,
    unstarted_targets_or_raise_if_none,
)
from posts.services.commit import RowsChanged, commit_without_audit_entry, plan_and_commit
from posts.states import (
    FINISHED_GROUP_STATUSES,
    UNFINISHED_GROUP_STATUSES,
    UNFINISHED_TARGET_STATUSES,
    GroupStatus,
    TargetStatus,
)


def cancel_post(*, caller: Caller, post_group_id: str, dry_run: bool = False, plan_hash: str | None = None) -> Plan:
    """Cancel a draft, a post group awaiting approval, or the targets of a released group that have not begun.

    Competes with the publisher for the target rows: whichever changes them first wins. Raises NotFound, ScopeMissing
    (posts.schedule; for a draft posts.draft), AccountNotAllowed, InvalidState, WorkspacePaused, PlanChanged.
    """
    return plan_and_commit(lambda: plan_cancel(caller, post_group_id), dry_run=dry_run, plan_hash=plan_hash)


def plan_cancel(caller: Caller, post_group_id: str) -> Plan:
    """Plan the cancellation of a post group, with the errors of `cancel_post`."""
    group = selectors.get_post_group(
        caller=caller, post_group_id=post_group_id, scope=any_scope_of("posts.schedule", "posts.draft"), write=True
    )
    require_access(caller, group.workspace_id, "posts.draft" if group.status == GroupStatus.DRAFT else "posts.schedule")
    check_account_allowlist(caller, group.account_ids)
    unstarted = {target.id for target in unstarted_targets_or_raise_if_none(group)}
    return Plan("posts.cancel", caller, group.workspace_id, [_cancellation(group, unstarted)])


def _cancellation(group: PostGroup, target_ids: Collection[str]) -> GroupChange:
    """Return the change of a plan that cancels these targets of a post group.

    Targets published before a retry stay published, so cancelling the retry restores the status before it. A group that has
    begun ends as its other targets do, at once or later.
    """
    after = copy_of_group(group)
    stopped = [target for target in after.targets.all() if target.id in target_ids]
    for target in stopped:
        mark_cancelled_or_unconfirmed_unsaved(target)
    ended = end_unsaved_group_if_all_targets_ended(after)
    kind = after.status if group.status == GroupStatus.PUBLISHING else GroupStatus.CANCELLED
    return GroupChange(
        before=group,
        after=after,
        moment=group.scheduled_at,
        due=timezone.now(),
        assets=existing_assets_of_group(group),
        releases=[each for each in stopped if each.status == TargetStatus.CANCELLED]
        if is_scheduled_or_publishing(group)
        else (),
        events=((f"post.{kind}", None),) if ended else (),
    )


def cancel_posts_of_deleted_workspaces(*, batch: int = 200) -> int:
    """Cancel unpublished post targets of deleted workspaces and release the money held for them; returns their number.

    The publisher ends targets that have started, without publishing anything more. Each group is cancelled in its own
    transaction, so an interrupted run can be repeated.
    """
    stranded = PostGroup.objects.filter(workspace__status=WorkspaceStatus.DELETED, status__in=UNFINISHED_GROUP_STATUSES)
    cancelled, last = 0, ""
    while ids := list(stranded.filter(pk__gt=last).order_by("pk").values_list("pk", flat=True)[:batch]):
        cancelled += sum(_cancel_waiting(pk) for pk in ids)
        last = ids[-1]
    return cancelled


@transaction.atomic
def _cancel_waiting(group_id: str) -> int:
    """Cancel a post group's targets that are not being published yet.

    Finishes the group if none of its other targets is being published. A group that changes meanwhile waits for the next run.
    """
    PostGroup.objects.select_for_update().get(pk=group_id)  # the publisher must not finish the group meanwhile
    group = selectors.groups_prefetching_targets().get(pk=group_id)
    if group.status in FINISHED_GROUP_STATUSES:
        return 0
    waiting = {
        target.id
        for target in group.targets.all()
        if target.status in UNFINISHED_TARGET_STATUSES and is_pending_and_unclaimed(target)
    }
    try:
        commit_without_audit_entry(_cancellation(group, waiting))
    except RowsChanged:
        return 0
    return len(waiting)
