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
from posts.states import CANCELLABLE, GroupStatus, TargetStatus


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
            group.status = GroupStatus.CANCELLED
            for target in group.targets.all():
                target.status, target.due_at = TargetStatus.CANCELLED, None
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


def _cancel(group: PostGroup) -> PostGroup:
    now = timezone.now()
    locked = PostGroup.objects.select_for_update().get(pk=group.pk)
    if locked.status not in CANCELLABLE:
        raise _too_late(locked)
    free = Q(lease_until=None) | Q(lease_until__lte=now)
    stopped = PostTarget.objects.filter(free, group=group, status=TargetStatus.PENDING).update(
        status=TargetStatus.CANCELLED, due_at=None, lease_until=None, fence=F("fence") + 1, updated_at=now
    )
    if stopped != len(group.targets.all()):
        raise _too_late(locked)
    release_many(target_ids=[target.id for target in group.targets.all()], failed=False)
    PostGroup.objects.filter(pk=group.pk).update(status=GroupStatus.CANCELLED, finished_at=now, updated_at=now)
    written = selectors.groups_with_targets().get(pk=group.pk)
    tell_group(written)
    return written


def _too_late(group: PostGroup) -> InvalidState:
    begun = GroupStatus.PUBLISHING if group.status == GroupStatus.SCHEDULED else group.status
    return InvalidState(
        f"The group is {begun}: only a draft, a scheduled group or one that waits for confirmation can be cancelled.",
        suggested_action="Read the group again; what is out already has to be deleted at its platform.",
    )
