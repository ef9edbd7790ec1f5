"""A model of the publishing protocol: workers, targets, a platform and faults.

The model takes every order of claims, steps, deaths, expired leases and lost answers, with the decisions of
posts/publishing/decision.py. Its rows are written as posts/publishing/outcomes.py writes them: only with the fence of the
claim. The model relies on three assumptions:

- A worker does not stay frozen between committing a step and sending its request for longer than `settles_seconds`.
- After `settles_seconds`, a verifiable platform no longer carries out a request that got no answer.
- An idempotent platform gives the same answer to each request for a post: it rejects all of them or none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, Transient
from accounts.platforms.types import Progress, Published, RetrySafety
from posts.publishing import decision_types as types
from posts.publishing.decision import decide
from posts.states import UNFINISHED_TARGET_STATUSES, Certainty, TargetStatus
from tests.posts.rows import NOON

FACTS: dict[str, types.Fact] = {
    "prepared": Progress("send"),
    "accepted": Progress("poll", ready_at=NOON, accepted=True),
    "undone": Progress("prepare"),  # the platform could not show what it had accepted
    "published": Published("post", "https://example.com/post"),
    "absent": types.PostNotFoundInSearch(),
    "absent so far": types.PostNotFoundInSearch(NOON),
    "no proof": types.PostNotFoundInSearch(error=OutcomeUnknown("No proof.")),
    "no proof so far": types.PostNotFoundInSearch(NOON, OutcomeUnknown("No proof.")),
    "answer lost": OutcomeUnknown("The answer was lost."),
    "down": Transient("Down."),
    "refused": ContentRejected("Refused."),
}


class Row(NamedTuple):
    """A target's row, and (`copies`, `in_flight`) what the platform has of its post."""

    status: TargetStatus = TargetStatus.PENDING
    step: str = "prepare"  # the next one; then send, and at platforms that only accept the post, poll
    begun: bool = False  # step_begun_at is set
    certainty: Certainty = Certainty.NOT_SENT
    attempt: int = 0
    losses: int = 0
    holder: int = -1  # the worker with the last claim, instead of a fence: a worker has one claim at a time
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
    step: str = "prepare"
    unanswered: bool = False
    certainty: Certainty = Certainty.NOT_SENT  # before the step
    fact: str = ""  # a key of FACTS


class World(NamedTuple):
    rows: tuple[Row, ...] = (Row(), Row())
    workers: tuple[Worker | None, ...] = (None, None)
    faults: int = 3
    max_attempts: int = 2
    retries: int = 0  # how many more unconfirmed targets a person retries
    accepts: bool = False  # the platform accepts posts and shows them later

    def with_row(self, number: int, row: Row) -> World:
        return self._replace(rows=tuple(row if at == number else old for at, old in enumerate(self.rows)))

    def with_worker(self, number: int, worker: Worker | None) -> World:
        return self._replace(workers=tuple(worker if at == number else old for at, old in enumerate(self.workers)))


def with_numbers_in_order(world: World) -> World:
    """Return the same world for some that differ only in the numbers of the workers or targets.

    All workers are alike, and so are all targets, so that from such worlds the same can follow.
    """
    rows, workers = world.rows, world.workers
    order = sorted(range(len(workers)), key=lambda number: workers[number] or ())
    if order != sorted(order):
        rows = tuple(row._replace(holder=order.index(row.holder)) if row.holder >= 0 else row for row in rows)
        workers = tuple(workers[number] for number in order)
    order = sorted(range(len(rows)), key=rows.__getitem__)
    if order != sorted(order):
        workers = tuple(worker and worker._replace(target=order.index(worker.target)) for worker in workers)
        rows = tuple(rows[number] for number in order)
    return world._replace(rows=rows, workers=workers)


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
            yield world.with_row(number, row._replace(leased=False))._replace(faults=world.faults - (holder is not None))


def _retried_by_person(row: Row, safety: RetrySafety) -> Row:
    """Reset an unconfirmed target as posts/services/retry.py does."""
    searches = safety != "at_most_once"
    return row._replace(
        status=TargetStatus.PENDING,
        step=row.step if searches else "prepare",
        begun=searches,
        attempt=0,
        holder=-1,
        retries=row.retries + 1,
    )


def _holder(world: World, target: int) -> Worker | None:
    holder = world.rows[target].holder
    worker = world.workers[holder] if holder >= 0 else None
    return worker if worker and worker.target == target else None


def _claims(world: World, number: int) -> Iterator[World]:
    for target, row in enumerate(world.rows):
        if row.status in UNFINISHED_TARGET_STATUSES and not row.leased:
            yield world.with_row(target, row._replace(holder=number, leased=True)).with_worker(number, Worker(target))


def _state(world: World, worker: Worker, safety: RetrySafety) -> types.TargetState:
    row = world.rows[worker.target]
    return types.TargetState(
        retry_safety=safety,
        publishes=worker.step == "send",
        unanswered=worker.unanswered,
        certainty=worker.certainty,
        attempt=row.attempt,
        attempts_left=row.attempt < world.max_attempts,
    )


def _worker_goes_on(world: World, number: int, worker: Worker, safety: RetrySafety) -> Iterator[World]:
    row = world.rows[worker.target]
    if not worker.begun:
        yield _begin(world, number, worker, safety)
    elif not worker.fact:
        for fact, after, faults in _answers(world, worker, row, safety):
            answered = world.with_row(worker.target, after).with_worker(number, worker._replace(fact=fact))
            yield answered._replace(faults=world.faults - faults)
    else:
        state = _state(world, worker, safety)
        yield _record(world, number, worker, safety, decide(state, FACTS[worker.fact]))


def _begin(world: World, number: int, worker: Worker, safety: RetrySafety) -> World:
    """The worker checks the target's past and commits that its step begins."""
    row = world.rows[worker.target]
    losses = row.losses + (row.status == TargetStatus.PUBLISHING)
    worker = worker._replace(step=row.step, unanswered=row.begun, certainty=row.certainty)
    decision = decide(_state(world, worker, safety), types.AttemptBegins(losses))
    if not isinstance(decision, types.TakeStep):
        return _record(world, number, worker, safety, decision)
    if row.holder != number:
        return world.with_worker(number, None)
    counted = row.attempt + (row.status != TargetStatus.PROCESSING)
    begun = row._replace(status=TargetStatus.PUBLISHING, begun=True, attempt=counted, losses=losses)
    begun = begun._replace(certainty=_state(world, worker, safety).certainty_during_step)
    return world.with_row(worker.target, begun).with_worker(number, worker._replace(begun=True))


def _answers(world: World, worker: Worker, row: Row, safety: RetrySafety) -> Iterator[tuple[str, Row, int]]:
    """Yield what the platform may answer to a step or search, what it then has, and how many faults that takes."""
    if worker.step == "prepare":
        yield "prepared", row, 0
        return
    if worker.step == "poll":
        yield from _answers_to_poll(world, row, safety)
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
    if world.accepts:
        yield "accepted", row._replace(in_flight=True), 0
    else:
        yield "published", _one_more_copy(row, safety), 0
    if world.faults:
        yield "answer lost", _one_more_copy(row, safety), 1
        yield "answer lost", row._replace(in_flight=True), 1
        yield "down", row, 1
        if not (safety == "idempotent" and row.copies):
            yield "refused", row._replace(refused=safety == "idempotent"), 1


def _answers_to_poll(world: World, row: Row, safety: RetrySafety) -> Iterator[tuple[str, Row, int]]:
    if row.in_flight or row.copies:
        shown = _one_more_copy(row, safety) if row.in_flight else row
        yield "published", shown._replace(in_flight=False), 0
    if world.faults:
        yield "down", row, 1
    if not row.copies:
        yield "undone", row._replace(in_flight=False), min(world.faults, 1)


def _one_more_copy(row: Row, safety: RetrySafety) -> Row:
    return row._replace(copies=1 if safety == "idempotent" else row.copies + 1)


def _record(world: World, number: int, worker: Worker, safety: RetrySafety, decision: types.Decision) -> World:
    """Write a decision as outcomes.py does; the claim ends unless the next step follows at once."""
    row, released = world.rows[worker.target], world.with_worker(number, None)
    if row.holder != number or row.status not in UNFINISHED_TARGET_STATUSES:
        if isinstance(decision, types.Finish) and decision.published and row.status == TargetStatus.UNCONFIRMED:
            late = row._replace(status=TargetStatus.PUBLISHED, money_held=False, certainty=decision.certainty)
            return released.with_row(worker.target, late)
        return released
    match decision:
        case types.TakeStep():
            step = decision.progress.phase if decision.progress else worker.step
            losses = 0 if decision.progress else row.losses
            begun = row._replace(status=TargetStatus.PUBLISHING, begun=True, step=step, losses=losses)
            going_on = worker._replace(fact="", step=step, unanswered=decision.unanswered, certainty=decision.certainty)
            after = begun._replace(certainty=_state(world, going_on, safety).certainty_during_step)
            return world.with_row(worker.target, after).with_worker(number, going_on)
        case types.Finish():
            held = decision.status == TargetStatus.UNCONFIRMED
            after = row._replace(status=decision.status, money_held=held, certainty=decision.certainty, begun=False)
        case types.Wait(progress=Progress() as progress):
            waiting = row._replace(status=TargetStatus.PROCESSING, begun=False, losses=0)
            after = waiting._replace(step=progress.phase, certainty=decision.certainty)
        case types.Retry() | types.Wait():
            after = row._replace(
                status=TargetStatus.RETRYING, begun=decision.unanswered, losses=0, certainty=decision.certainty
            )
            if isinstance(decision, types.Wait):
                after = after._replace(attempt=max(row.attempt - 1, 0))
        case _:
            raise AssertionError(decision)
    return released.with_row(worker.target, after._replace(leased=False))
