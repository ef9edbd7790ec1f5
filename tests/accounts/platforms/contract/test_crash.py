"""A worker may die before or after any step: the next one continues from the stored progress. No post is published twice, and
an outcome that cannot be determined is reported as unconfirmed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from accounts.platforms.base import START
from accounts.platforms.registry import platform
from accounts.platforms.types import NotPublishedProof, Progress, Published
from billing import selectors as billing
from posts.models import PostTarget
from posts.publishing.outcomes import LEASE
from tests.accounts.platforms.contract.content import content, ended, kinds_of, post, shown
from tests.accounts.platforms.contract.world import World
from tests.accounts.platforms.contract.worlds import WORLDS
from tests.conftest import ApiClient
from tests.posts.publishing.steps import await_platform, begin, do, finish, take_up
from tests.posts.rows import publish_rounds

EVERY_KIND = [(name, kind) for name, world in WORLDS.items() for kind in kinds_of(world)]


def die_at(step: int, clock: Any, *, done: bool) -> str | None:
    """Take the target that is due through its steps and die at this one, counted from 0, before or after it was done;
    the step's phase, None when the publication was over before."""
    for number in count():
        due_at = PostTarget.objects.get(due_at__isnull=False).due_at
        assert due_at is not None
        clock.move_to(max(due_at, datetime.now(UTC)))
        worker = take_up()
        begin(worker)
        if number == step and not done:
            break
        result = do(worker)
        if number == step:
            break
        if isinstance(result, Published):
            finish(worker, result)
            return None
        await_platform(worker, result)
    clock.shift(LEASE)
    return worker.phase


@pytest.mark.parametrize("done", [True, False], ids=["after it was done", "before it was done"])
def test_a_worker_that_dies_at_a_step(
    api: ApiClient, world: World, account: ConnectedAccount, clock: Any, done: bool
) -> None:
    adapter = platform(world.name)
    for step in count():
        before = len(world.posts())
        target = post(api, world, account, f"Post {step}")
        phase = die_at(step, clock, done=done)

        publish_rounds(clock)

        status, made = ended(target)[0], len(world.posts()) - before
        if phase not in adapter.irreversible or (world.finds if done else world.proves_absence):
            assert (step, phase, status, made) == (step, phase, "published", 1)
        else:
            assert (step, phase, status, made) == (step, phase, "unconfirmed", int(done))
        if phase is None:
            break
    assert step > 1
    assert billing.ledger_drift() == []


@pytest.mark.parametrize(("platform_name", "kind"), EVERY_KIND)
def test_a_post_whose_workers_die_after_every_step_is_there_once_and_whole(world: World, kind: str) -> None:
    """Each step starts from stored progress and is repeated by the next worker, which searches for the post first if the step
    may have published it, and stops if the outcome cannot be determined."""
    adapter, grant, given = platform(world.name), world.connection().grant, content(world, "Hello", kind)
    result: Progress | Published = START
    while isinstance(result, Progress):
        stored = Progress(result.phase, json.loads(json.dumps(dict(result.state))))
        result = adapter.publish(grant, given, stored)
        if stored.phase not in adapter.irreversible or adapter.capabilities.retry_safety == "idempotent":
            result = adapter.publish(grant, given, stored)
        elif world.finds and kind not in world.finds_no:
            found = adapter.find(grant, given, stored)
            assert not isinstance(found, NotPublishedProof)
            result = found

    assert world.posts() == [shown(world, "Hello", kind)]
