"""Threads from the API to the post: a chain that continues where it stopped, and a post whose permalink nobody knows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings

from accounts.models import ConnectedAccount
from billing import selectors as billing
from tests.accounts.platforms.contract.worlds import world_of
from tests.accounts.platforms.threads.world import PlatformWorld
from tests.conftest import ApiClient
from tests.fakes.http_server import Answer
from tests.fakes.threads import MAKE, PUBLISH, SHOW, FakeThreads
from tests.posts.rows import publish_rounds, read, the_target
from workspaces.models import Workspace


@pytest.fixture
def world(settings: Settings, clock: Any) -> Iterator[PlatformWorld]:
    with world_of("threads", settings) as running:
        assert isinstance(running, PlatformWorld)
        yield running


@pytest.fixture
def server(world: PlatformWorld) -> FakeThreads:
    return world.server


@pytest.fixture
def account(api: ApiClient, workspace: Workspace, world: PlatformWorld) -> ConnectedAccount:
    return world.connect(api, workspace.id)


@pytest.fixture(autouse=True)
def _books_balance(db: None) -> Any:
    yield
    assert billing.drift() == []


def post(api: ApiClient, account: ConnectedAccount, *texts: str) -> dict[str, Any]:
    options = {"thread": [{"text": text} for text in texts[1:]]} if texts[1:] else {}
    target = {"platform": "threads", "connected_account_id": account.id, "options": options}
    answer = api.post("/posts", {"text": texts[0], "targets": [target]})
    assert answer.status_code == 201, answer.content
    return dict(answer.json()["post_group"])


def target_of(api: ApiClient, group: dict[str, Any]) -> dict[str, Any]:
    [target] = read(api, group)["targets"]
    return dict(target)


@pytest.mark.parametrize("segment", [1, 2, 3])
@pytest.mark.parametrize("taken", [True, False])
def test_a_chain_continues_after_a_segment_without_a_response(
    api: ApiClient, server: FakeThreads, account: ConnectedAccount, clock: Any, segment: int, taken: bool
) -> None:
    group = post(api, account, "One", "Two", "Three")
    for _ in range(segment - 1):
        server.hold_next(PUBLISH).set()  # these go through
    server.drop_next(PUBLISH, after_accept=taken)

    publish_rounds(clock)

    target, made = target_of(api, group), server.posts("alice")
    assert [each["text"] for each in made] == ["One", "Two", "Three"]
    assert [each["reply_to"] for each in made] == [None, made[0]["id"], made[1]["id"]]
    assert (target["status"], target["external_id"]) == ("published", made[0]["id"])


def test_a_chain_refused_midway_continues_there_on_retry(
    api: ApiClient, server: FakeThreads, account: ConnectedAccount, clock: Any
) -> None:
    group = post(api, account, "One", "Two")
    server.hold_next(MAKE).set()  # the first goes through
    server.refuse_next(MAKE, Answer.of_json({"error": {"code": 100, "message": "The text is odd."}}, 400))

    publish_rounds(clock)

    target = target_of(api, group)
    assert target["status"] == "unconfirmed"
    assert target["error"]["message"].startswith(
        "Segment 1 was published; segment 2 was not: Threads does not accept this post"
    )
    answer = api.post(f"/posts/{group['id']}/retry", {"include_unconfirmed": True})
    assert answer.status_code == 200, answer.content
    publish_rounds(clock)
    assert target_of(api, group)["status"] == "published"
    assert [made["text"] for made in server.posts("alice")] == ["One", "Two"]


def test_a_post_whose_permalink_cannot_be_read_is_published_once(
    api: ApiClient, server: FakeThreads, account: ConnectedAccount, clock: Any
) -> None:
    group = post(api, account, "Hello")
    server.hold_next(SHOW).set()  # the container's status
    server.fail_next(SHOW, 503, times=20)

    publish_rounds(clock)

    target, [made] = target_of(api, group), server.posts("alice")
    assert (target["status"], target["external_id"], target["permalink"]) == ("published", made["id"], "")
    assert target["error"]["code"] == "PUBLISHED_INCOMPLETE"
    assert the_target(group).phase == "permalink"
