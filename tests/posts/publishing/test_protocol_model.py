"""A model of the publishing protocol, explored exhaustively: two workers, two targets and three faults.

The model takes every order of claims, steps, deaths, expired leases and lost answers, with the decisions of
posts/publishing/decision.py. Its rows are written as posts/publishing/outcomes.py writes them: only with the fence of the
claim. The model relies on three assumptions:

- A worker does not stay frozen between committing a step and sending its request for longer than `settles_seconds`.
- After `settles_seconds`, a verifiable platform no longer carries out a request that got no answer.
- An idempotent platform gives the same answer to each request for a post: it rejects all of them or none.

Invariants:

1. The platform never has more than one copy of a post, unless a person asked to send an unconfirmed post again.
2. A failed target has no copy and never will have; a published one has a copy.
3. Money is held exactly for targets that are unfinished or unconfirmed.
4. From every state some order of events leads to an end for all targets: nothing is stuck.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, Transient
from accounts.platforms.types import Progress, Published, RetrySafety
from posts.publishing import decision_types as types
from posts.publishing.decision import decide
from posts.states import UNFINISHED_TARGET_STATUSES, TargetStatus
from tests.posts.rows import NOON

FACTS: dict[str, types.Fact] = {
    "prepared": Progress("send"),
    "published": Published("post", "https://example.com/post"),
    "absent": types.Searched(NOON, settled=True),
    "absent so far": types.Searched(NOON, settled=False),
    "no proof": types.Searched(NOON, settled=True, error=OutcomeUnknown("No proof.")),
    "no proof so far": types.Searched(NOON, settled=False, error=OutcomeUnknown("No proof.")),
    "answer lost": OutcomeUnknown("The answer was lost."),
    "down": Transient("Down."),
    "refused": ContentRejected("Refused."),
}


class Row(NamedTuple):
    """A target's row, and (`copies`, `in_flight`) what the platform has of its post."""

    status: TargetStatus = TargetStatus.PENDING
    publishes: bool = False  # the next step is the one that publishes
    begun: bool = False  # step_begun_at is set
    certainty: types.Certainty = types.Certainty.NOT_SENT
    attempt: int = 0
    losses: int = 0
    holder: int | None = None  # the worker with the last claim, instead of a fence: a worker has one claim at a time
    leased: bool = False
    money_held: bool = True
    copies: int = 0
    retries: int = 0  # how often a person asked to send the unconfirmed post again
    refused: bool = False  # an idempotent platform has rejected it
    in_flight: bool = False  # the platform will still carry out a request that nobody waits for


class Worker(NamedTuple):
    """A worker with a claim: it has claimed, has begun a step, or has a fact from the platform that is not written yet."""

    target: int
    begun: bool = False
    publishes: bool = False  # its step is the one that publishes
    unanswered: bool = False
    fact: str | None = None  # a key of FACTS


class World(NamedTuple):
    rows: tuple[Row, ...] = (Row(), Row())
    workers: tuple[Worker | None, ...] = (None, None)
    faults: int = 3
    max_attempts: int = 2
    retries: int = 0  # how many more unconfirmed targets a person retries

    def with_row(self, number: int, row: Row) -> World:
        return self._replace(rows=tuple(row if at == number else old for at, old in enumerate(self.rows)))

    def with_worker(self, number: int, worker: Worker | None) -> World:
        return self._replace(workers=tuple(worker if at == number else old for at, old in enumerate(self.workers)))


def next_worlds(world: World, safety: RetrySafety) -> Iterator[World]:
    """Yield every world that one event makes of this one."""
    for number, worker in enumerate(world.workers):
        if worker is None:
            yield from _claims(world, number)
        else:
            yield from _worker_goes_on(world, number, worker, safety)
            if world.faults:
                yield world.with_worker(number, None)._replace(faults=world.faults - 1)  # it dies
    for number, row in enumerate(world.rows):
        if row.status == TargetStatus.UNCONFIRMED and world.retries:
            yield world.with_row(number, _retried_by_person(row, safety))._replace(retries=world.retries - 1)
        if row.in_flight:
            if not row.refused:
                yield world.with_row(number, _one_more_copy(row._replace(in_flight=False), safety))
            yield world.with_row(number, row._replace(in_flight=False))
        holder = _holder(world, number)
        if row.leased and (holder is None or world.faults):  # the lease of a living worker expires only by a fault
            yield world.with_row(number, row._replace(leased=False))._replace(
                faults=world.faults - (holder is not None)
            )


def _retried_by_person(row: Row, safety: RetrySafety) -> Row:
    """Reset an unconfirmed target as posts/services/retry.py does."""
    searches = safety != "at_most_once"
    return row._replace(
        status=TargetStatus.PENDING,
        publishes=row.publishes and searches,
        begun=searches,
        certainty=types.Certainty.MAYBE_SENT,
        attempt=0,
        holder=None,
        retries=row.retries + 1,
    )


def _holder(world: World, target: int) -> Worker | None:
    holder = world.rows[target].holder
    worker = world.workers[holder] if holder is not None else None
    return worker if worker and worker.target == target else None


def _claims(world: World, number: int) -> Iterator[World]:
    for target, row in enumerate(world.rows):
        if row.status in UNFINISHED_TARGET_STATUSES and not row.leased:
            yield world.with_row(target, row._replace(holder=number, leased=True)).with_worker(number, Worker(target))


def _state(world: World, worker: Worker, safety: RetrySafety) -> types.State:
    row = world.rows[worker.target]
    return types.State(
        retry_safety=safety,
        publishes=worker.publishes,
        unanswered=worker.unanswered,
        certainty=row.certainty,
        attempt=row.attempt,
        attempts_left=row.attempt < world.max_attempts,
    )


def _worker_goes_on(world: World, number: int, worker: Worker, safety: RetrySafety) -> Iterator[World]:
    row = world.rows[worker.target]
    if not worker.begun:
        yield _begin(world, number, worker, safety)
    elif worker.fact is None:
        for fact, after, faults in _answers(world, worker, row, safety):
            answered = world.with_row(worker.target, after).with_worker(number, worker._replace(fact=fact))
            yield answered._replace(faults=world.faults - faults)
    else:
        state = _state(world, worker, safety)
        yield _record(world, number, worker, decide(state, FACTS[worker.fact]))


def _begin(world: World, number: int, worker: Worker, safety: RetrySafety) -> World:
    """The worker checks the target's past and commits that its step begins."""
    row = world.rows[worker.target]
    losses = row.losses + (row.status == TargetStatus.PUBLISHING)
    worker = worker._replace(publishes=row.publishes, unanswered=row.begun)
    decision = decide(_state(world, worker, safety), types.WorkerDied(losses))
    if not isinstance(decision, types.TakeStep):
        return _record(world, number, worker, decision)
    if row.holder != number:
        return world.with_worker(number, None)
    counted = row.attempt + (row.status != TargetStatus.PROCESSING)
    begun = row._replace(status=TargetStatus.PUBLISHING, begun=True, attempt=counted, losses=losses)
    return world.with_row(worker.target, begun).with_worker(number, worker._replace(begun=True))


def _answers(world: World, worker: Worker, row: Row, safety: RetrySafety) -> Iterator[tuple[str, Row, int]]:
    """Yield what the platform may answer to a step or search, what it then has, and how many faults that takes."""
    if not worker.publishes:
        yield "prepared", row, 0
        return
    if _state(world, worker, safety).must_search:
        others_send = sum(each is not None and each.target == worker.target and each.begun for each in world.workers)
        settled = not row.in_flight and others_send == 1
        yield ("published" if row.copies else "absent" if settled else "absent so far"), row, 0
        if world.faults:
            yield ("no proof" if settled else "no proof so far"), row, 1
            yield "down", row, 1
        return
    if row.refused:
        yield "refused", row, 0
        return
    yield "published", _one_more_copy(row, safety), 0
    if world.faults:
        yield "answer lost", _one_more_copy(row, safety), 1
        yield "answer lost", row._replace(in_flight=True), 1
        yield "down", row, 1
        if not (safety == "idempotent" and row.copies):
            yield "refused", row._replace(refused=safety == "idempotent"), 1


def _one_more_copy(row: Row, safety: RetrySafety) -> Row:
    return row._replace(copies=1 if safety == "idempotent" else row.copies + 1)


def _record(world: World, number: int, worker: Worker, decision: types.Decision) -> World:
    """Write a decision as outcomes.py does; the claim ends unless the next step follows at once."""
    row, released = world.rows[worker.target], world.with_worker(number, None)
    if row.holder != number or row.status not in UNFINISHED_TARGET_STATUSES:
        if isinstance(decision, types.Finish) and decision.published and row.status == TargetStatus.UNCONFIRMED:
            late = row._replace(status=TargetStatus.PUBLISHED, money_held=False, certainty=types.Certainty.CONFIRMED)
            return released.with_row(worker.target, late)
        return released
    match decision:
        case types.TakeStep():
            done = decision.progress is not None
            after = row._replace(
                status=TargetStatus.PUBLISHING,
                publishes=worker.publishes or done,
                begun=True,
                certainty=decision.certainty,
                losses=0 if done else row.losses,
            )
            publishes = worker.publishes or done
            going_on = worker._replace(fact=None, publishes=publishes, unanswered=decision.unanswered)
            return world.with_row(worker.target, after).with_worker(number, going_on)
        case types.Finish():
            held = decision.status == TargetStatus.UNCONFIRMED
            after = row._replace(status=decision.status, money_held=held, certainty=decision.certainty, begun=False)
        case types.Retry() | types.TryUncounted():
            after = row._replace(status=TargetStatus.RETRYING, begun=decision.unanswered, losses=0)
            if isinstance(decision, types.TryUncounted):
                after = after._replace(attempt=max(row.attempt - 1, 0))
        case types.AwaitPlatform():
            after = row._replace(status=TargetStatus.PROCESSING, begun=False, losses=0)
        case _:
            raise AssertionError(decision)
    return released.with_row(worker.target, after._replace(leased=False))


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


@pytest.mark.parametrize("safety", ["idempotent", "verifiable", "at_most_once"])
@pytest.mark.parametrize(
    "start",
    [World(), World(rows=(Row(),), faults=5, max_attempts=3, retries=1)],
    ids=["two targets", "a person retries the target"],
)
def test_nothing_is_lost_doubled_or_stuck(start: World, safety: RetrySafety) -> None:
    before: dict[World, list[World]] = {start: []}
    to_explore = [start]
    while to_explore:
        world = to_explore.pop()
        for following in next_worlds(world, safety):
            if following not in before:
                before[following] = []
                to_explore.append(following)
            before[following].append(world)
            assert (problem := violated(following)) is None, f"{problem}:\n{_path(before, following)}"

    assert len(before) > 1_000
    assert _without_end(before) == 0


def _path(before: dict[World, list[World]], world: World) -> str:
    """Return the events that led to a world, one line for each world."""
    path = [world]
    while before[path[-1]]:
        path.append(before[path[-1]][0])
    return "\n".join(str(each) for each in reversed(path))


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
