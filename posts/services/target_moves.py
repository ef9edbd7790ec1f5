"""Edits that move single targets of a post to other times, and edits that move them back to their former times."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from posts.content import PostEdit, TargetInput, own_scheduled_at, target_inputs_of_group
from posts.models import PostGroup, PostTarget
from posts.services.changes import is_unattempted_target
from posts.states import TargetStatus


class TargetTime(NamedTuple):
    """The time to which a target of a post is moved; `slot` says whether the time is a slot of the account."""

    at: datetime | None
    slot: bool


def edit_that_moves_targets(group: PostGroup, targets: Collection[PostTarget], to: TargetTime) -> PostEdit:
    """Return the edit that moves these targets of a post to another time; the post's other targets keep their times.

    If all of them have the time of the post and take no slot, the post itself is moved.
    """
    has_other_times = targets_that_keep_their_times(group, targets) or any(own_scheduled_at(group, each) for each in targets)
    if not to.slot and not has_other_times:
        return PostEdit(scheduled_at=to.at)
    return PostEdit(targets=target_inputs_with_times(group, {each.account_id: to for each in targets}))


def targets_that_keep_their_times(group: PostGroup, targets: Collection[PostTarget]) -> list[PostTarget]:
    """Return the targets of a post that keep their times when these targets are moved, without cancelled ones."""
    moved = {each.id for each in targets}
    return [each for each in group.targets.all() if each.id not in moved and each.status != TargetStatus.CANCELLED]


def target_inputs_with_times(group: PostGroup, times: Mapping[str, TargetTime]) -> tuple[TargetInput, ...]:
    """Return a post's targets after moves to `times`, which are by account id; the others keep their time and slot."""
    stored = {each.account_id: each for each in group.targets.all()}
    writes = []
    for each in target_inputs_of_group(group):
        target = stored[each.connected_account_id]
        at, slot = times.get(target.account_id, TargetTime(target.scheduled_at, target.slot))
        if not is_unattempted_target(target):  # an edit leaves it as it is, and its time may have passed
            at, slot = None, False
        writes.append(replace(each, scheduled_at=at, slot="next" if slot else None))
    return tuple(writes)
