"""The publishing protocol, explored exhaustively (protocol_model.py): two workers, two targets and three faults.

Invariants:

1. The platform never has more than one copy of a post, unless a person asked to send an unconfirmed post again.
2. A failed target has no copy and never will have; a published one has a copy.
3. Money is held exactly for targets that are unfinished or unconfirmed.
4. From every state some order of events leads to an end for all targets: nothing is stuck.
"""

from __future__ import annotations

import pytest

from accounts.platforms.types import RetrySafety
from posts.states import UNFINISHED_TARGET_STATUSES, TargetStatus
from tests.posts.publishing.protocol_model import Row, World, next_worlds, with_numbers_in_order


def violated(world: World) -> str | None:
    for row in world.rows:
        if row.copies > 1 + row.retries:
            return "doubled"
        if row.status == TargetStatus.PUBLISHED and not row.copies:
            return "published without a copy"
        if row.status == TargetStatus.FAILED and (row.copies or (row.in_flight and not row.refused)):
            return "failed with a copy"
        finished = row.status in (TargetStatus.PUBLISHED, TargetStatus.FAILED)
        if row.money_held == finished:
            return "money"
    return None


TWO_TARGETS = World()
RETRIED = World(rows=(Row(),), faults=5, max_attempts=3, retries=1)
ACCEPTING = World(rows=(Row(),), max_attempts=3, retries=1, accepts=True)
SAFETIES: list[RetrySafety] = ["idempotent", "verifiable", "at_most_once"]
CASES = [(start, safety) for start in (TWO_TARGETS, RETRIED, ACCEPTING) for safety in SAFETIES]


# An idempotent platform would have to accept a post again that it could not show.
@pytest.mark.parametrize(("start", "safety"), [case for case in CASES if case != (ACCEPTING, "idempotent")])
def test_nothing_is_lost_doubled_or_stuck(start: World, safety: RetrySafety) -> None:
    before: dict[World, list[World]] = {start: []}
    to_explore = [start]
    while to_explore:
        world = to_explore.pop()
        for following in map(with_numbers_in_order, next_worlds(world, safety)):
            if following not in before:
                before[following] = [world]
                to_explore.append(following)
                assert (problem := violated(following)) is None, f"{problem}:\n{_path(before, following)}"
            else:
                before[following].append(world)

    assert len(before) > 1_000
    assert _without_end(before) == 0


def _path(before: dict[World, list[World]], world: World) -> str:
    return (_path(before, before[world][0]) if before[world] else "") + f"{world}\n"


def _without_end(before: dict[World, list[World]]) -> int:
    """Return the number of worlds from which no order of events finishes both targets."""
    to_mark = [world for world in before if all(row.status not in UNFINISHED_TARGET_STATUSES for row in world.rows)]
    ending = set(to_mark)
    while to_mark:
        for world in before[to_mark.pop()]:
            if world not in ending:
                ending.add(world)
                to_mark.append(world)
    return len(before.keys() - ending)
