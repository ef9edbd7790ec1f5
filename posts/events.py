"""Webhook events of post groups and of post targets; the event of a group is sent after the events of its targets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from posts.models import PostGroup, PostTarget
from posts.post_group_json import post_group_json
from posts.states import FINISHED_GROUP_STATUSES, GroupStatus, TargetStatus
from webhooks.services import NewEvent

REPORTED_TARGET_STATUSES = (TargetStatus.PUBLISHED, TargetStatus.FAILED, TargetStatus.UNCONFIRMED)


def build_group_events(
    group: PostGroup, targets: Iterable[PostTarget], kinds: Sequence[tuple[str, str | None]]
) -> list[NewEvent]:
    """Return one unsaved webhook event for each of a post group's `kinds`: an event kind, with a target id or None.

    The `event_sequence` of the group counts them already: it is the number of the last one among the group's events.
    """
    data = {"post_group": post_group_json(group, targets)} if kinds else {}
    return [
        NewEvent(
            workspace_id=group.workspace_id,
            kind=kind,
            post_group_id=group.id,
            target_id=target_id,
            sequence=group.event_sequence - len(kinds) + place,
            trace_id=group.trace_id,
            sandbox=group.sandbox,
            url=group.event_url,
            data=data,
        )
        for place, (kind, target_id) in enumerate(kinds, 1)
    ]


def outcome_event_kinds_and_targets(
    status: GroupStatus, targets: Collection[PostTarget], changed: Iterable[PostTarget], *, ended: bool
) -> list[tuple[str, str | None]]:
    """Return the events of targets that finished publishing, and of their post group if that finished, too.

    A kind comes with the id of its target. `status` and `targets` are those of the group; with `ended`, the status is new.
    """
    kinds: list[tuple[str, str | None]] = []
    if len(targets) > 1:
        kinds += [(f"post.target.{each.status}", each.id) for each in changed if each.status in REPORTED_TARGET_STATUSES]
    if ended and status in FINISHED_GROUP_STATUSES:
        kinds.append((f"post.{status}", None))
    return kinds
