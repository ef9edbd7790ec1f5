"""A thread resumes at the failed segment, or reports which segments were published."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from billing import selectors as billing
from tests.accounts.platforms.contract.worlds import world_of
from tests.conftest import ApiClient
from tests.posts.chain_platform import FIVE, post_five
from tests.posts.rows import publish_rounds, read
from workspaces.models import Workspace


@pytest.fixture(autouse=True)
def _books_balance(db: None) -> Any:
    yield
    assert billing.find_wrong_month_counters() == []


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("platform", ["bluesky", "mastodon", "threads", "x"])
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
