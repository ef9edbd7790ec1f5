"""A thread resumes at the failed segment, or reports which segments were published."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from billing import selectors as billing
from posts.models import PostTarget
from posts.publishing.engine import LEASE
from posts.publishing.worker_loop import publish_due
from tests.accounts.platforms.contract.worlds import world_of
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.http_server import Answer
from tests.fakes.mastodon_methods import LIST
from tests.posts.chain_platform import FIVE, post_five
from tests.posts.publishing.steps import begin, do, take_up
from tests.posts.rows import publish_rounds, read
from workspaces.models import Workspace


@pytest.fixture(autouse=True)
def _books_balance(db: None) -> Any:
    yield
    assert billing.drift() == []


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("platform", ["bluesky", "mastodon"])
def test_a_thread_continues_at_its_interrupted_third_call(
    api: ApiClient, workspace: Workspace, settings: Any, clock: Any, platform: str, taken: bool
) -> None:
    with world_of(platform, settings) as world:
        group = post_five(api, world.connect(api, workspace.id))
        for _ in range(2):
            world.server.hold_next(world.create).set()  # these go through
        world.server.drop_next(world.create, after_accept=taken)

        publish_rounds(clock)

        assert read(api, group)["status"] == "published"
        assert [made.text for made in world.posts()] == list(FIVE)


@pytest.mark.parametrize("platform", ["bluesky", "mastodon"])
@pytest.mark.parametrize("dies", ["before the call", "after it"])
def test_a_thread_continues_at_the_third_call_after_its_worker_died(
    api: ApiClient, workspace: Workspace, settings: Any, clock: Any, platform: str, dies: str
) -> None:
    with world_of(platform, settings) as world:
        group = post_five(api, world.connect(api, workspace.id))
        for _ in range(2):
            world.server.hold_next(world.create).set()
        world.server.fail_next(world.create, 503)
        publish_due()
        ahead = PostTarget.objects.get().due_at
        assert ahead is not None
        clock.move_to(ahead)
        worker = take_up()
        begin(worker)
        if dies == "after it":
            do(worker)
        clock.shift(LEASE)

        publish_rounds(clock)

        assert read(api, group)["status"] == "published"
        assert [made.text for made in world.posts()] == list(FIVE)


def test_a_thread_whose_server_cannot_be_read_becomes_unconfirmed(
    api: ApiClient, workspace: Workspace, settings: Any, clock: Any
) -> None:
    with world_of("mastodon", settings) as world:
        account = world.connect(api, workspace.id)
        world.server.refuse_next(LIST, Answer.of_json({"error": "outside the authorized scopes"}, 403))
        group = post_five(api, account)
        for _ in range(2):
            world.server.hold_next(world.create).set()
        world.server.drop_next(world.create)

        publish_rounds(clock)

        [target] = read(api, group)["targets"]
        assert target["status"] == "unconfirmed"
        assert target["error"]["message"].startswith(
            "Segments 1 and 2 were published; it is not known whether segment 3 was: "
        )


def test_a_disconnected_account_while_preparing_a_segment_is_reported(
    api: ApiClient, pds: FakeBluesky, bluesky_account: ConnectedAccount, clock: Any
) -> None:
    resolve = "com.atproto.identity.resolveHandle"
    group = post_five(api, bluesky_account, "One", "Two @alice.test", "Three")
    pds.fail_next(resolve, 503)
    publish_due()
    api.delete(f"/accounts/{bluesky_account.id}")

    publish_rounds(clock)

    [target] = read(api, group)["targets"]
    words = "Segment 1 was published; segment 2 was not: The account is disconnected."
    assert (target["status"], target["error"]["message"]) == ("unconfirmed", words)
    assert pds.writes == 1


@pytest.mark.parametrize(
    ("marker", "status", "words"),
    [
        (
            "reject",
            "unconfirmed",
            "Segment 1 was published; segment 2 was not: The sandbox rejects this post, as its text asks.",
        ),
        (
            "unknown",
            "unconfirmed",
            "Segment 1 was published; it is not known whether segment 2 was: The sandbox does not say",
        ),
        ("flaky", "published", None),
        ("slow", "published", None),
    ],
)
def test_the_sandbox_simulates_a_thread_that_stops_midway(
    api: ApiClient, account: ConnectedAccount, clock: Any, marker: str, status: str, words: str | None
) -> None:
    group = post_five(api, account, "One", f"Two [sandbox:{marker}]", "Three")

    publish_rounds(clock)

    [target] = read(api, group)["targets"]
    assert target["status"] == status
    assert target["error"] is None if words is None else target["error"]["message"].startswith(words)
