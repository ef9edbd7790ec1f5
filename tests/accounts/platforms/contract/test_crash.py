"""A worker may die before or after any step: the next one continues from the stored progress. No post is published twice, and
an outcome that cannot be determined is reported as unconfirmed."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from accounts.platforms.base import START
from accounts.platforms.registry import get_adapter
from accounts.platforms.types import Content, NotPublishedProof, Progress, Published
from billing import selectors as billing
from posts.models import PostTarget
from posts.publishing.attempts import LEASE
from tests.accounts.platforms.contract.content import content, ended, kinds_of, post, shown
from tests.accounts.platforms.contract.world import World
from tests.accounts.platforms.contract.worlds import WORLDS
from tests.conftest import ApiClient
from tests.posts.publishing.worker import killed_at_write
from tests.posts.rows import publish_rounds

EVERY_KIND = [(name, kind) for name, world in WORLDS.items() for kind in kinds_of(world)]


def with_option(option: str) -> list[str]:
    """The worlds whose platform has this option."""
    return [name for name, world in WORLDS.items() if option in get_adapter(world.name).capabilities.options["properties"]]


def asking(world: World, **options: Any) -> Content:
    """The plainest post with these options."""
    plain = content(world, "One")
    return replace(plain, options={**plain.options, **options})


@pytest.mark.parametrize("committed", [False, True], ids=["before a write", "after a write"])
def test_a_worker_is_killed_at_each_of_its_writes(
    api: ApiClient, world: World, account: ConnectedAccount, clock: Any, committed: bool
) -> None:
    """Before a write, a step is done and its result lost (before the first, nothing is); after it, a step is begun."""
    irreversible = get_adapter(world.name).irreversible
    for number in count():
        before = len(world.posts())
        target = post(api, world, account, f"Post {number}")
        killed = killed_at_write(number, clock, committed=committed)
        row = PostTarget.objects.get(pk=target.pk)
        in_doubt = row.step_begun_at is not None and row.phase in irreversible
        clock.shift(LEASE)

        publish_rounds(clock)

        status, made = ended(target)[0], len(world.posts()) - before
        done = not committed
        if not in_doubt or (world.finds if done else world.proves_absence):
            assert (number, row.phase, status, made) == (number, row.phase, "published", 1)
        else:
            assert (number, row.phase, status, made) == (number, row.phase, "unconfirmed", int(done))
        if not killed:
            break
    assert number > 1
    assert billing.find_wrong_month_counters() == []


def publish_doubly(world: World, given: Content, kind: str = "") -> list[Progress]:
    """Publish with workers that die after every step; the progress before each step.

    Each step starts from stored progress and is repeated by the next worker, which searches for the post first if the step
    may have published it, and stops if the outcome cannot be determined.
    """
    adapter, grant, before = get_adapter(world.name), world.connection().grant, []
    result: Progress | Published = START
    while isinstance(result, Progress):
        stored = Progress.from_stored(result.phase, json.loads(json.dumps(result.to_stored())))
        before.append(stored)
        assert len(before) < 100
        result = adapter.publish_step(grant, given, stored)
        assert_nothing_lost(stored, result)
        if stored.phase not in adapter.irreversible or adapter.capabilities.retry_safety == "idempotent":
            result = adapter.publish_step(grant, given, stored)
        elif world.finds and kind not in world.finds_no:
            found = adapter.find_or_rule_out_published_post(grant, given, stored)
            assert not isinstance(found, NotPublishedProof)
            result = found
        assert_nothing_lost(stored, result)
    return before


def assert_nothing_lost(before: Progress, after: Progress | Published) -> None:
    """What the platform has published or accepted is still known after a step; segments until the whole thread is out."""
    if isinstance(after, Progress):
        assert after.segments[: len(before.segments)] == before.segments or after.published
        assert after.accepted >= before.accepted
        assert before.published in (None, after.published)


@pytest.mark.parametrize(("platform_name", "kind"), EVERY_KIND)
def test_a_post_whose_workers_die_after_every_step_is_there_once_and_whole(world: World, kind: str) -> None:
    publish_doubly(world, content(world, "Hello", kind), kind)

    assert world.posts() == [shown(world, "Hello", kind)]


@pytest.mark.parametrize("platform_name", with_option("thread"))
def test_no_step_loses_the_published_segments_of_a_thread(world: World) -> None:
    before = publish_doubly(world, asking(world, thread=[{"text": "Two"}, {"text": "Three"}]))

    assert {0, 1, 2} == {len(each.segments) for each in before}
    assert [each.text for each in world.posts()] == ["One", "Two", "Three"]


# Members may not comment at LinkedIn.
@pytest.mark.parametrize("platform_name", sorted({*with_option("first_comment")} - {"linkedin"}))
def test_no_step_loses_the_post_that_gets_a_first_comment(world: World) -> None:
    before = publish_doubly(world, asking(world, first_comment="More"))

    assert before[-1].published
    assert len(world.posts()) == 1
