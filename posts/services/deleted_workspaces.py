"""Cancellation of unfinished posts of deleted workspaces."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from config.api.caller import WorkspaceStatus
from posts import selectors
from posts.attached_media import release_group_media
from posts.events import emit_group_event
from posts.models import PostGroup, PostTarget
from posts.services.stop import stop_waiting_targets
from posts.states import FINISHED, GroupStatus, roll_up

UNFINISHED = [status for status in GroupStatus if status not in FINISHED]


def cancel_posts_of_deleted_workspaces(*, batch: int = 200) -> int:
    """Cancel targets of deleted workspaces that have not started and release their money; returns how many.

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
    """Cancel the group's targets that have not started; the group is finished if no other target is running."""
    now = timezone.now()
    PostGroup.objects.select_for_update().get(pk=group_id)
    stopped = stop_waiting_targets(PostTarget.objects.filter(group_id=group_id), cancel=True)
    group = selectors.groups_with_targets().get(pk=group_id)
    status = roll_up(target.status for target in group.targets.all())
    if status in FINISHED and group.status not in FINISHED:
        group.status, group.finished_at, group.updated_at = status, now, now
        PostGroup.objects.filter(pk=group_id).update(status=status, finished_at=now, updated_at=now)
        release_group_media(group)
        emit_group_event(group, f"post.{GroupStatus.CANCELLED}")
    return len(stopped)
