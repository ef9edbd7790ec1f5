"""A link card on Bluesky takes several steps; a worker may die at each, and the post is published once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from accounts.models import ConnectedAccount
from billing import selectors as billing
from posts.models import PostTarget
from tests.accounts.platforms.contract.test_crash import die_at
from tests.conftest import ApiClient
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.http_server import Answer
from tests.fakes.web_pages import WebPages, html, open_graph, picture
from tests.posts.rows import create, publish_rounds, read


@pytest.fixture
def web() -> Iterator[WebPages]:
    with WebPages() as server:
        server.put("/picture.png", Answer(200, picture(), {"Content-Type": "image/png"}))
        server.put("/page", html(open_graph("A bench", "How it was made", "/picture.png")))
        yield server


@pytest.mark.parametrize("done", [True, False], ids=["after it was done", "before it was done"])
def test_a_link_card_survives_the_death_of_a_worker_at_each_step(
    api: ApiClient, pds: FakeBluesky, bluesky_account: ConnectedAccount, clock: Any, web: WebPages, done: bool
) -> None:
    phases = []
    for step in count():
        group = create(api, bluesky_account, text=f"Post {step}: {web.url}/page")
        phase = die_at(step, clock, done=done)
        publish_rounds(clock)

        target = PostTarget.objects.get(group_id=group["id"])
        assert (phase, target.status, target.error) == (phase, "published", None)
        if phase is None:
            break
        phases.append(phase)

    assert phases == ["start", "card", "picture", "freeze", "put"]
    embeds = [record["value"]["embed"] for record in pds.records(bluesky_account.external_id)]
    assert all(embed["external"]["title"] == "A bench" and "thumb" in embed["external"] for embed in embeds)
    assert pds.writes == len(embeds) == len(phases) + 1
    assert billing.ledger_drift() == []


def test_a_post_without_its_card_says_what_is_missing(
    api: ApiClient, pds: FakeBluesky, bluesky_account: ConnectedAccount, clock: Any, web: WebPages
) -> None:
    group = create(api, bluesky_account, text=f"Look: {web.url}/nowhere")

    publish_rounds(clock)

    [target] = read(api, group)["targets"]
    assert (target["status"], target["error"]["code"]) == ("published", "PUBLISHED_INCOMPLETE")
    assert target["error"]["message"] == "The post has no link card: the page at 127.0.0.1 answered 404."
    assert (pds.writes, target["attempts"]) == (1, 1)
