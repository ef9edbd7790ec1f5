"""Cancellation of post groups that have not started publishing, and of the unfinished posts of deleted workspaces."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from config.api.caller import Caller, WorkspaceStatus, check_account_allowlist, require_access
from config.api.scopes import any_of
from posts import selectors
from posts.attached_media import end_group_media_protection
from posts.events import emit_group_event
from posts.models import PostGroup, PostTarget
from posts.services.changes import (
    audit_group_operation,
    require_publishing_not_begun,
    stop_all_targets_or_raise,
    stop_unclaimed_targets,
    too_late_error,
)
from posts.states import CANCELLABLE, FINISHED, UNFINISHED, GroupStatus, TargetStatus, group_status_from_targets


def cancel_post(*, caller: Caller, post_group_id: str, dry_run: bool = False) -> PostGroup:
    """Cancel a draft, a post group awaiting approval, or a scheduled group before any of its targets is being published.

    Competes with the publisher for the target rows: whichever locks them first wins. Raises NotFound, ScopeMissing
    (posts.schedule; for a draft posts.draft), AccountNotAllowed, InvalidState, WorkspacePaused.
    """
    group = selectors.get_post_group(
        caller=caller, post_group_id=post_group_id, scope=any_of("posts.schedule", "posts.draft"), write=True
    )
    require_access(caller, group.workspace_id, "posts.draft" if group.status == GroupStatus.DRAFT else "posts.schedule")
    check_account_allowlist(caller, group.account_ids)
    if group.status not in CANCELLABLE:
        raise too_late_error(group)
    with transaction.atomic():
        if dry_run:
            _preview(group)
        else:
            group = _cancel(caller, group)
        audit_group_operation(caller, group, "posts.cancel", dry_run=dry_run)
    return group


def _preview(group: PostGroup) -> None:
    for target in require_publishing_not_begun(group):
        target.status = TargetStatus.UNCONFIRMED if target.maybe_out else TargetStatus.CANCELLED
        target.due_at = None
    group.status, group.finished_at = (
        group_status_from_targets(target.status for target in group.targets.all()),
        timezone.now(),
    )


def _cancel(caller: Caller, group: PostGroup) -> PostGroup:
    locked = PostGroup.objects.select_for_update().get(pk=group.pk)
    if locked.status not in CANCELLABLE:
        raise too_late_error(locked)
    stop_all_targets_or_raise(locked, cancel=True)
    written = selectors.groups_with_targets().get(pk=group.pk)
    check_account_allowlist(caller, written.account_ids)  # an edit may have changed the targets before the row was locked
    _save_cancelled(written)
    return written


def _save_cancelled(group: PostGroup) -> None:
    """Save a cancelled post group as finished, end the protection of its media from deletion, and emit the event.

    Targets published before a retry stay published, so cancelling the retry restores the status before it.
    """
    group.status = group_status_from_targets(target.status for target in group.targets.all())
    group.finished_at = timezone.now()
    group.save(update_fields=("status", "finished_at", "updated_at"))
    end_group_media_protection(group)
    emit_group_event(group, f"post.{GroupStatus.CANCELLED}")


def cancel_posts_of_deleted_workspaces(*, batch: int = 200) -> int:
    """Cancel unpublished post targets of deleted workspaces and release the money held for them; returns their number.

    The publisher ends targets that have started, without publishing anything more. Each group is cancelled in its own
    transaction, so an interrupted run can be repeated.
    """
    stranded = PostGroup.objects.filter(workspace__status=WorkspaceStatus.DELETED, status__in=UNFINISHED)
    cancelled, last = 0, ""
    while ids := list(stranded.filter(pk__gt=last).order_by("pk").values_list("pk", flat=True)[:batch]):
        cancelled += sum(_cancel_waiting(pk) for pk in ids)
        last = ids[-1]
    return cancelled


@transaction.atomic
def _cancel_waiting(group_id: str) -> int:
    """Cancel a post group's targets that are not being published yet.

    Finishes the group if none of its other targets is being published.
    """
    PostGroup.objects.select_for_update().get(pk=group_id)
    stopped = stop_unclaimed_targets(PostTarget.objects.filter(group_id=group_id), cancel=True)
    group = selectors.groups_with_targets().get(pk=group_id)
    status = group_status_from_targets(target.status for target in group.targets.all())
    if status in FINISHED and group.status not in FINISHED:
        _save_cancelled(group)
    return len(stopped)
