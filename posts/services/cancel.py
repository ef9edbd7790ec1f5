"""Cancelling what has not begun."""

from __future__ import annotations

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from auditlog.services import record
from billing.services import release_many
from config.api.caller import Caller, require
from config.api.errors import InvalidState
from config.api.scopes import any_of
from posts import selectors
from posts.events import tell_group
from posts.models import PostGroup, PostTarget
from posts.states import CANCELLABLE, RUNNING_TARGETS, GroupStatus, TargetStatus, roll_up


def cancel_post(*, caller: Caller, post_group_id: str, dry_run: bool = False) -> PostGroup:
    """Cancel a draft, a group that waits for confirmation, or a scheduled one none of whose targets has begun.

    Races with the publisher at the targets' rows: whichever claims them first wins, the other is told.
    Raises NotFound, ScopeMissing (posts.schedule; a draft: posts.draft), InvalidState, WorkspacePaused.
    """
    group = selectors.group_of(
        caller=caller, post_group_id=post_group_id, scope=any_of("posts.schedule", "posts.draft"), write=True
    )
    require(caller, group.workspace_id, "posts.draft" if group.status == GroupStatus.DRAFT else "posts.schedule")
    if group.status not in CANCELLABLE:
        raise _too_late(group)
    with transaction.atomic():
        if dry_run:
            _preview(group)
        else:
            group = _cancel(group)
        record(
            caller=caller,
            operation="posts.cancel",
            resource_type="post_group",
            resource_id=group.id,
            dry_run=dry_run,
        )
    return group


def _preview(group: PostGroup) -> None:
    now = timezone.now()
    for target in group.targets.all():
        if target.status in RUNNING_TARGETS:
            if target.status != TargetStatus.PENDING or (target.lease_until and target.lease_until > now):
                raise _too_late(group)
            target.status, target.due_at = TargetStatus.CANCELLED, None
    group.status, group.finished_at = roll_up(target.status for target in group.targets.all()), now


def _cancel(group: PostGroup) -> PostGroup:
    now = timezone.now()
    locked = PostGroup.objects.select_for_update().get(pk=group.pk)
    if locked.status not in CANCELLABLE:
        raise _too_late(locked)
    free = Q(lease_until=None) | Q(lease_until__lte=now)
    waiting = PostTarget.objects.filter(group=group, status__in=RUNNING_TARGETS)
    stopped = list(waiting.values_list("pk", flat=True))
    if waiting.filter(free, status=TargetStatus.PENDING).update(
        status=TargetStatus.CANCELLED, due_at=None, lease_until=None, fence=F("fence") + 1, updated_at=now
    ) != len(stopped):
        raise _too_late(locked)
    release_many(target_ids=stopped, failed=False)
    written = selectors.groups_with_targets().get(pk=group.pk)
    # What an earlier round published stays so: a retry that is cancelled leaves its group as the round ended.
    written.status = roll_up(target.status for target in written.targets.all())
    written.finished_at = written.updated_at = now
    PostGroup.objects.filter(pk=group.pk).update(status=written.status, finished_at=now, updated_at=now)
    tell_group(written, f"post.{GroupStatus.CANCELLED}")
    return written


def _too_late(group: PostGroup) -> InvalidState:
    begun = GroupStatus.PUBLISHING if group.status == GroupStatus.SCHEDULED else group.status
    return InvalidState(
        f"The group is {begun}: only a draft, a scheduled group or one that waits for confirmation can be cancelled.",
        suggested_action="Read the group again; what is out already has to be deleted at its platform.",
    )
