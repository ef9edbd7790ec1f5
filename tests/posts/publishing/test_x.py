"""Publishing threads and repeated texts to X, from the API to the post."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings

from accounts.models import ConnectedAccount
from billing import selectors as billing
from tests.accounts.platforms.contract.worlds import world_of
from tests.accounts.platforms.x.world import PlatformWorld
from tests.conftest import ApiClient
from tests.fakes.x_methods import CREATE
from tests.posts.rows import create, publish_rounds, read
from workspaces.models import Workspace


@pytest.fixture
def world(settings: Settings, clock: Any) -> Iterator[PlatformWorld]:
    with world_of("x", settings) as running:
        assert isinstance(running, PlatformWorld)
        yield running
    assert billing.drift() == []


@pytest.fixture
def account(world: PlatformWorld, api: ApiClient, workspace: Workspace) -> ConnectedAccount:
    return world.connect(api, workspace.id)


def post_thread(api: ApiClient, account: ConnectedAccount, first: str, *further: str) -> dict[str, Any]:
    options = {"thread": [{"text": text} for text in further]}
    target = {"platform": "x", "connected_account_id": account.id, "options": options}
    return create(api, account, text=first, targets=[target])


def texts_of(world: PlatformWorld) -> list[str]:
    return [made.text for made in world.posts()]


@pytest.mark.parametrize("segment", [1, 3])
def test_a_thread_continues_after_a_lost_response(
    api: ApiClient, world: PlatformWorld, account: ConnectedAccount, clock: Any, segment: int
) -> None:
    group = post_thread(api, account, "One", "Two", "Three")
    for _ in range(segment - 1):
        world.server.hold_next(CREATE).set()  # these calls succeed
    world.server.drop_next(CREATE)

    publish_rounds(clock)

    [target] = read(api, group)["targets"]
    assert texts_of(world) == ["One", "Two", "Three"]
    assert (target["status"], target["external_id"]) == ("published", world.server.posts("alice")[0]["id"])
    assert world.server.requests_to(CREATE) == 3


def test_a_thread_that_x_refuses_in_the_middle_is_not_restarted(
    api: ApiClient, world: PlatformWorld, account: ConnectedAccount, clock: Any
) -> None:
    group = post_thread(api, account, "One", "Two")
    world.server.refuse_replies()

    publish_rounds(clock)

    [target] = read(api, group)["targets"]
    assert (target["status"], target["error"]["code"]) == ("unconfirmed", "PUBLISH_OUTCOME_UNKNOWN")
    assert target["error"]["message"].startswith(
        "Segment 1 was published; segment 2 was not: X does not accept this post"
    )
    answer = api.post(f"/posts/{group['id']}/retry", {"include_unconfirmed": True})
    assert answer.status_code == 200, answer.content
    publish_rounds(clock)
    assert texts_of(world) == ["One"]


def test_two_posts_with_the_same_text_are_distinguished(
    api: ApiClient, world: PlatformWorld, account: ConnectedAccount, clock: Any
) -> None:
    first, second = (create(api, account, text="Hello") for _ in range(2))

    publish_rounds(clock)

    states = sorted(read(api, group)["status"] for group in (first, second))
    assert states == ["published", "unconfirmed"]
    assert texts_of(world) == ["Hello"]
