"""Cancellation of post groups that have not started publishing."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from auditlog.services import record
from config.api.caller import Caller, check_account_allowlist, require
from config.api.scopes import any_of
from posts import selectors
from posts.attached_media import release_group_media
from posts.events import emit_group_event
from posts.models import PostGroup
from posts.services.stop import require_not_begun, stop_group, too_late_error
from posts.states import CANCELLABLE, GroupStatus, TargetStatus, roll_up


def cancel_post(*, caller: Caller, post_group_id: str, dry_run: bool = False) -> PostGroup:
    """Cancel a draft, a group awaiting confirmation, or a scheduled group none of whose targets has started.

    Competes with the publisher for the target rows: whichever locks them first wins. Raises NotFound, ScopeMissing
    (posts.schedule; for a draft posts.draft), AccountNotAllowed, InvalidState, WorkspacePaused.
    """
    group = selectors.get_post_group(
        caller=caller, post_group_id=post_group_id, scope=any_of("posts.schedule", "posts.draft"), write=True
    )
    require(caller, group.workspace_id, "posts.draft" if group.status == GroupStatus.DRAFT else "posts.schedule")
    check_account_allowlist(caller, group.account_ids)
    if group.status not in CANCELLABLE:
        raise too_late_error(group)
    with transaction.atomic():
        if dry_run:
            _preview(group)
        else:
            group = _cancel(caller, group)
        record(
            caller=caller,
            operation="posts.cancel",
            resource_type="post_group",
            resource_id=group.id,
            dry_run=dry_run,
        )
    return group


def _preview(group: PostGroup) -> None:
    for target in require_not_begun(group):
        target.status = TargetStatus.UNCONFIRMED if target.maybe_out else TargetStatus.CANCELLED
        target.due_at = None
    group.status, group.finished_at = roll_up(target.status for target in group.targets.all()), timezone.now()


def _cancel(caller: Caller, group: PostGroup) -> PostGroup:
    locked = PostGroup.objects.select_for_update().get(pk=group.pk)
    if locked.status not in CANCELLABLE:
        raise too_late_error(locked)
    stop_group(locked, cancel=True)
    written = selectors.groups_with_targets().get(pk=group.pk)
    check_account_allowlist(
        caller, written.account_ids
    )  # an edit may have changed the targets before the row was locked
    # Targets published before a retry stay published, so cancelling the retry restores the status before it.
    written.status = roll_up(target.status for target in written.targets.all())
    written.finished_at = written.updated_at = timezone.now()
    PostGroup.objects.filter(pk=group.pk).update(
        status=written.status, finished_at=written.finished_at, updated_at=written.updated_at
    )
    release_group_media(written)
    emit_group_event(written, f"post.{GroupStatus.CANCELLED}")
    return written
