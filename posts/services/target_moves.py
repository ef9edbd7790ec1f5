"""The edits that give single targets of a post other times, and those that give them their former times again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from posts.content import TargetWrite, target_writes_of_group
from posts.models import PostGroup
from posts.services.changes import is_changeable


class TargetTime(NamedTuple):
    """The time of a target to write; `slot`: it is a slot of the account."""

    at: datetime | None
    slot: bool


def target_writes_with_times(group: PostGroup, times: Mapping[str, TargetTime]) -> tuple[TargetWrite, ...]:
    """Return the targets of a post with other times, by account id; targets without one here keep their time and slot."""
    stored = {each.account_id: each for each in group.targets.all()}
    writes = []
    for each in target_writes_of_group(group):
        target = stored[each.connected_account_id]
        at, slot = times.get(target.account_id, TargetTime(target.scheduled_at, target.slot))
        if not is_changeable(target):  # an edit leaves it as it is, and its time may have passed
            at, slot = None, False
        writes.append(replace(each, scheduled_at=at, slot="next" if slot else None))
    return tuple(writes)
