"""Webhook events of post groups and of post targets; the event of a group is sent after the events of its targets."""

from __future__ import annotations

from collections.abc import Sequence

from posts.models import PostGroup, PostTarget
from posts.post_group_json import post_group_json
from posts.states import FINISHED_GROUP_STATUSES, TargetStatus
from webhooks.services import NewEvent

REPORTED_TARGET_STATUSES = (TargetStatus.PUBLISHED, TargetStatus.FAILED, TargetStatus.UNCONFIRMED)


def build_group_event(group: PostGroup, kind: str, target_id: str | None = None, *, sequence: int) -> NewEvent:
    """Return an unsaved webhook event of a post group; `sequence` is its number among the group's events."""
    return NewEvent(
        workspace_id=group.workspace_id,
        kind=kind,
        post_group_id=group.id,
        target_id=target_id,
        sequence=sequence,
        trace_id=group.trace_id,
        sandbox=group.sandbox,
        url=group.event_url,
        data={"post_group": post_group_json(group, group.targets.all())},
    )


def outcome_event_kinds_and_targets(
    group: PostGroup, changed: Sequence[PostTarget], *, ended: bool
) -> list[tuple[str, str | None]]:
    """Return the kinds of the events of post targets that finished publishing, and of their post group if that finished, too.

    A kind comes with the id of its target. `ended`: the group's status has changed.
    """
    kinds: list[tuple[str, str | None]] = []
    if len(group.targets.all()) > 1:
        kinds += [(f"post.target.{each.status}", each.id) for each in changed if each.status in REPORTED_TARGET_STATUSES]
    if ended and group.status in FINISHED_GROUP_STATUSES:
        kinds.append((f"post.{group.status}", None))
    return kinds


def build_numbered_outcome_events(group: PostGroup, changed: Sequence[PostTarget], *, ended: bool) -> list[NewEvent]:
    """Return the webhook events of `outcome_event_kinds_and_targets`.

    Raises `event_sequence` on the group. The caller holds the group's row lock, stores the sequence and emits the events.
    """
    events = []
    for kind, target_id in outcome_event_kinds_and_targets(group, changed, ended=ended):
        group.event_sequence += 1
        events.append(build_group_event(group, kind, target_id, sequence=group.event_sequence))
    return events
