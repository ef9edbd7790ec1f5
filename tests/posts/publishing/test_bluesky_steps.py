"""Videos and link cards on Bluesky take several steps; a worker may die at each, and the post is published once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from tests.media.video_files import movie, movie_header, track
from tests.posts.rows import create, publish_rounds, read


def video(number: int) -> bytes:
    """A unique video."""
    return movie(track(duration=6000 + number), header=movie_header(duration=6000 + number))


@pytest.fixture
def web() -> Iterator[WebPages]:
    with WebPages() as server:
        server.put("/picture.png", Answer(200, picture(), {"Content-Type": "image/png"}))
        server.put("/page", html(open_graph("A bench", "How it was made", "/picture.png")))
        yield server


def embeds_of(pds: FakeBluesky) -> list[dict[str, Any]]:
    """The embeds of the account's posts."""
    return [record["value"]["embed"] for record in pds.records(ConnectedAccount.objects.get().external_id)]


def die_everywhere(
    api: ApiClient, account: ConnectedAccount, clock: Any, fields_of: Callable[[int], dict[str, Any]], *, done: bool
) -> set[str]:
    """Let a worker die at each step of one post per step; returns the phases. Each post is published once."""
    phases = set()
    for step in count():
        group = create(api, account, **fields_of(step))
        phase = die_at(step, clock, done=done)
        publish_rounds(clock)

        target = PostTarget.objects.get(group_id=group["id"])
        assert (phase, target.status, target.error) == (phase, "published", None)
        if phase is None:
            break
        phases.add(phase)
    return phases


@pytest.mark.parametrize("done", [True, False], ids=["after it was done", "before it was done"])
def test_a_video_survives_the_death_of_a_worker_at_each_step(
    api: ApiClient, pds: FakeBluesky, bluesky_account: ConnectedAccount, clock: Any, done: bool
) -> None:
    def with_video(step: int) -> dict[str, Any]:
        uploaded = api.upload(video(step), filename="film.mp4").json()["media"]
        return {"text": f"Post {step}", "media": [{"media_id": uploaded["id"]}]}

    phases = die_everywhere(api, bluesky_account, clock, with_video, done=done)

    assert phases == {"start", "upload", "process", "freeze", "put"}
    embeds = embeds_of(pds)
    assert {embed["$type"] for embed in embeds} == {"app.bsky.embed.video"}
    assert pds.writes == pds.video.jobs == len(embeds) > len(phases)
    assert billing.drift() == []


@pytest.mark.parametrize("done", [True, False], ids=["after it was done", "before it was done"])
def test_a_link_card_survives_the_death_of_a_worker_at_each_step(
    api: ApiClient, pds: FakeBluesky, bluesky_account: ConnectedAccount, clock: Any, web: WebPages, done: bool
) -> None:
    def with_link(step: int) -> dict[str, Any]:
        return {"text": f"Post {step}: {web.url}/page"}

    phases = die_everywhere(api, bluesky_account, clock, with_link, done=done)

    assert phases == {"start", "card", "picture", "freeze", "put"}
    embeds = embeds_of(pds)
    assert all(embed["external"]["title"] == "A bench" and "thumb" in embed["external"] for embed in embeds)
    assert pds.writes == len(embeds) == len(phases) + 1
    assert billing.drift() == []


def test_a_post_without_its_card_says_what_is_missing(
    api: ApiClient, pds: FakeBluesky, bluesky_account: ConnectedAccount, clock: Any, web: WebPages
) -> None:
    group = create(api, bluesky_account, text=f"Look: {web.url}/nowhere")

    publish_rounds(clock)

    [target] = read(api, group)["targets"]
    assert (target["status"], target["error"]["code"]) == ("published", "PUBLISHED_INCOMPLETE")
    assert target["error"]["message"] == "The post has no link card: the page at 127.0.0.1 answered 404."
    assert (pds.writes, target["attempts"]) == (1, 1)
