"""The events of a group: each once for each occurrence, the group's after its targets'."""

from __future__ import annotations

from collections.abc import Sequence

from posts.bodies import group_body
from posts.models import PostGroup, PostTarget
from posts.states import FINISHED, TargetStatus
from webhooks.services import emit

TOLD_TARGETS = (TargetStatus.PUBLISHED, TargetStatus.FAILED, TargetStatus.UNCONFIRMED)


def tell_group(group: PostGroup, kind: str | None = None) -> None:
    """Tell that the group has come to a state (`post.<status>`), or another occurrence by name."""
    _tell(group, kind or f"post.{group.status}", None)


def tell_outcomes(group: PostGroup, changed: Sequence[PostTarget], *, ended: bool) -> None:
    """Tell what became of targets, and of the group when that `ended` it. The caller holds the group's row lock."""
    if len(group.targets.all()) > 1:
        for target in changed:
            if target.status in TOLD_TARGETS:
                _tell(group, f"post.target.{target.status}", target.id)
    if ended and group.status in FINISHED:
        tell_group(group)


def _tell(group: PostGroup, kind: str, target_id: str | None) -> None:
    group.event_sequence += 1
    PostGroup.objects.filter(pk=group.pk).update(event_sequence=group.event_sequence)
    emit(
        workspace_id=group.workspace_id,
        kind=kind,
        post_group_id=group.id,
        target_id=target_id,
        sequence=group.event_sequence,
        trace_id=group.trace_id,
        sandbox=group.sandbox,
        url=group.event_url,
        data={"post_group": group_body(group), **({"target_id": target_id} if target_id else {})},
    )
