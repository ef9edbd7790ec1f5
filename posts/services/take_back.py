"""Taking targets that have not begun out of the publisher's reach."""

from __future__ import annotations

from typing import Any

from django.db.models import F, Q
from django.utils import timezone

from billing.services import release_many
from config.api.errors import InvalidState
from posts.models import PostGroup, PostTarget
from posts.states import RUNNING_TARGETS, GroupStatus, TargetStatus


def take_back(group: PostGroup, **changes: Any) -> list[str]:
    """Stop all targets of a locked group that wait, release what is held for them, and apply `changes`; their ids.

    Races with the publisher at the targets' rows: whichever claims them first wins. Raises InvalidState when it was the
    publisher; the caller's transaction then rolls back.
    """
    now = timezone.now()
    free = Q(lease_until=None) | Q(lease_until__lte=now)
    waiting = PostTarget.objects.filter(group=group, status__in=RUNNING_TARGETS)
    stopped = list(waiting.values_list("pk", flat=True))
    if waiting.filter(free, status=TargetStatus.PENDING).update(
        due_at=None, lease_until=None, fence=F("fence") + 1, updated_at=now, **changes
    ) != len(stopped):
        raise too_late(group)
    release_many(target_ids=stopped, failed=False)
    return stopped


def refuse_begun(group: PostGroup) -> list[PostTarget]:
    """The targets that wait, for a preview. Raises InvalidState when one of them is being published."""
    now = timezone.now()
    waiting = [target for target in group.targets.all() if target.status in RUNNING_TARGETS]
    for target in waiting:
        if target.status != TargetStatus.PENDING or (target.lease_until and target.lease_until > now):
            raise too_late(group)
    return waiting


def too_late(group: PostGroup) -> InvalidState:
    """The refusal for a group that has gone on."""
    begun = GroupStatus.PUBLISHING if group.status == GroupStatus.SCHEDULED else group.status
    return InvalidState(
        f"The group is {begun}: only a draft, a scheduled group or one that waits for confirmation can still be changed.",
        suggested_action="Read the group again; what is out already has to be deleted at its platform.",
    )
