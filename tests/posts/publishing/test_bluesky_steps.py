"""A link card on Bluesky takes several steps; a worker may die at each, and the post is published once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from billing import selectors as billing
from posts.models import PostTarget
from posts.publishing.attempts import LEASE
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.http_server import Answer
from tests.fakes.web_pages import WebPages, html, open_graph, picture
from tests.posts.publishing.worker import killed_at_write
from tests.posts.rows import create, publish_rounds, read


@pytest.fixture
def web() -> Iterator[WebPages]:
    with WebPages() as server:
        server.put("/picture.png", Answer(200, picture(), {"Content-Type": "image/png"}))
        server.put("/page", html(open_graph("A bench", "How it was made", "/picture.png")))
        yield server


@pytest.mark.parametrize("committed", [False, True], ids=["before a write", "after a write"])
def test_a_link_card_survives_the_death_of_a_worker_at_each_write(
    api: ApiClient, pds: FakeBluesky, bluesky_account: ConnectedAccount, clock: Any, web: WebPages, committed: bool
) -> None:
    killed = True
    phases: list[str] = []
    while killed:
        group = create(api, bluesky_account, text=f"Post {len(phases)}: {web.url}/page")
        killed = killed_at_write(len(phases), clock, committed=committed)
        phases.append(PostTarget.objects.get(group_id=group["id"]).phase)
        clock.shift(LEASE)
        publish_rounds(clock)

        target = PostTarget.objects.get(group_id=group["id"])
        assert (phases[-1], target.status, target.error) == (phases[-1], "published", None)

    assert {"start", "card", "picture", "freeze", "put"} <= set(phases)
    embeds = [record["value"]["embed"] for record in pds.records(bluesky_account.external_id)]
    assert all(embed["external"]["title"] == "A bench" and "thumb" in embed["external"] for embed in embeds)
    assert pds.writes == len(embeds) == len(phases)
    assert billing.find_wrong_month_counters() == []


def test_a_post_without_its_card_says_what_is_missing(
    api: ApiClient, pds: FakeBluesky, bluesky_account: ConnectedAccount, clock: Any, web: WebPages
) -> None:
    group = create(api, bluesky_account, text=f"Look: {web.url}/nowhere")

    publish_rounds(clock)

    [target] = read(api, group)["targets"]
    assert (target["status"], target["error"]["code"]) == ("published", "PUBLISHED_INCOMPLETE")
    assert target["error"]["message"] == "The post has no link card: the page at 127.0.0.1 answered 404."
    assert (pds.writes, target["attempts"]) == (1, 1)
