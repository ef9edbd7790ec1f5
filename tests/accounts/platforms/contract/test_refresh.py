"""Tokens that are renewed: by one worker for all, and never at the cost of a post."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from accounts import services
from accounts.models import ConnectedAccount
from accounts.platforms.base import START
from accounts.platforms.registry import get_adapter
from accounts.platforms.types import Progress, Published
from tests.accounts.platforms.contract.content import content, ended, post
from tests.accounts.platforms.contract.world import World
from tests.accounts.platforms.contract.worlds import WORLDS
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import publish_rounds

RENEWED = [name for name, world in WORLDS.items() if world.renew]
RENEWED_BEHIND = [name for name, world in WORLDS.items() if world.lives]
WORKERS = 10


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("platform_name", RENEWED)
def test_ten_workers_renew_the_tokens_once_and_all_publish(world: World, account: ConnectedAccount, clock: Any) -> None:
    """The first call is held until others have come to wait: where refresh tokens are good once, a second one would cost
    the grant."""
    clock.shift(world.renewable_after)
    stale, before, calls = account.decrypted_grant(), len(world.server.requests), world.server.requests_to(world.renew)
    release = world.server.hold_next(world.renew)

    def work(n: int) -> Any:
        if n == WORKERS:
            world.server.wait_for(before + 1)
            return release.set()
        grant = services.renew_or_await_tokens(account_id=account.id, stale=stale)
        result: Progress | Published = START
        while isinstance(result, Progress):
            result = get_adapter(world.name).publish_step(grant, content(world, f"Post {n}"), result)
        return result.external_id

    with time_machine.travel(datetime.now(UTC)):  # the lease sees by the time that a row has changed since it was read
        made = in_threads(WORKERS + 1, work)[:WORKERS]

    assert world.server.requests_to(world.renew) == calls + 1
    assert len(set(made)) == WORKERS
    assert sorted(each.text for each in world.posts()) == sorted(f"Post {n}" for n in range(WORKERS))
    account.refresh_from_db()
    assert (account.status, account.refresh_lease_until) == ("active", None)


@pytest.mark.parametrize("platform_name", RENEWED_BEHIND)
def test_a_stale_token_is_renewed_within_the_attempt_and_later_when_that_fails(
    api: ApiClient, world: World, account: ConnectedAccount, clock: Any
) -> None:
    world.expire(clock)
    target = post(api, world, account, "Post 1")
    world.server.fail_next(world.renew)
    run_until_idle()
    account.refresh_from_db()
    assert (ended(target)[0], account.status, world.posts()) == ("retrying", "active", [])
    publish_rounds(clock)
    assert ended(target) == ("published", None)

    world.expire(clock)
    target = post(api, world, account, "Post 2")
    publish_rounds(clock)

    assert (*ended(target), target.attempts) == ("published", None, 1)
    assert [each.text for each in world.posts()] == ["Post 1", "Post 2"]
