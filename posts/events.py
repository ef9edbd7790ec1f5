"""Webhook events of post groups and of post targets; the event of a group is sent after the events of its targets."""

from __future__ import annotations

from collections.abc import Sequence

from posts.models import PostGroup, PostTarget
from posts.post_group_json import post_group_json
from posts.states import FINISHED, TargetStatus
from webhooks.services import NewEvent, store_events_with_deliveries

REPORTED_TARGET_STATUSES = (TargetStatus.PUBLISHED, TargetStatus.FAILED, TargetStatus.UNCONFIRMED)


def emit_group_event(group: PostGroup, kind: str | None = None) -> None:
    """Emit a webhook event of a post group; without `kind`, the event is named after the group's status: `post.<status>`."""
    group.event_sequence += 1
    event = build_group_event(group, kind)
    PostGroup.objects.filter(pk=group.pk).update(event_sequence=group.event_sequence)
    store_events_with_deliveries([event])


def build_group_event(group: PostGroup, kind: str | None = None, target_id: str | None = None) -> NewEvent:
    """Return an unsaved webhook event of a post group; without `kind`, it is named after the group's status."""
    return NewEvent(
        workspace_id=group.workspace_id,
        kind=kind or f"post.{group.status}",
        post_group_id=group.id,
        target_id=target_id,
        sequence=group.event_sequence,
        trace_id=group.trace_id,
        sandbox=group.sandbox,
        url=group.event_url,
        data={"post_group": post_group_json(group)},
    )


def build_outcome_events(group: PostGroup, changed: Sequence[PostTarget], *, ended: bool) -> list[NewEvent]:
    """Return the webhook events of post targets that finished publishing, and of their post group if that finished, too.

    `ended`: the group's status has changed. Raises `event_sequence` on the group. The caller holds the group's row lock,
    stores the sequence and emits the events.
    """
    kinds: list[tuple[str, str | None]] = []
    if len(group.targets.all()) > 1:
        kinds += [(f"post.target.{each.status}", each.id) for each in changed if each.status in REPORTED_TARGET_STATUSES]
    if ended and group.status in FINISHED:
        kinds.append((f"post.{group.status}", None))
    events = []
    for kind, target_id in kinds:
        group.event_sequence += 1
        events.append(build_group_event(group, kind, target_id))
    return events
