"""The steps of a publication, as the engine takes them."""

from __future__ import annotations

import json
from typing import Any

from accounts.platforms.base import START
from accounts.platforms.bluesky.adapter import Bluesky
from accounts.platforms.types import Content, Grant, Progress, Published
from tests.fakes.bluesky import FakeBluesky


def start(bluesky: Bluesky, grant: Grant, text: str, **options: Any) -> Progress:
    """The first step of a post without a link card, which publishes nothing."""
    progress = bluesky.publish(grant, Content("tgt_1", text, {"link_card": "none", **options}), START)
    assert isinstance(progress, Progress)
    return progress


def put(bluesky: Bluesky, grant: Grant, progress: Progress) -> Published:
    """The last step, from the state as a database gives it back."""
    published = bluesky.publish(grant, Content("tgt_1", "ignored"), stored(progress))
    assert isinstance(published, Published)
    return published


def prepare(bluesky: Bluesky, grant: Grant, content: Content, progress: Progress = START) -> Progress:
    """The steps from `progress` to the one that publishes, that one left out."""
    while progress.phase != "put":
        progress = step(bluesky, grant, content, progress)
    return progress


def step(bluesky: Bluesky, grant: Grant, content: Content, progress: Progress) -> Progress:
    """One step that does not publish."""
    after = bluesky.publish(grant, content, stored(progress))
    assert isinstance(after, Progress)
    return after


def stored(progress: Progress) -> Progress:
    """The progress as a database gives it back."""
    return Progress(progress.phase, json.loads(json.dumps(progress.state)))


def linking(link: str, **options: Any) -> Content:
    """A post whose text contains this link."""
    return Content("tgt_1", f"Look: {link} and more", options)


def publish(bluesky: Bluesky, grant: Grant, content: Content, progress: Progress = START) -> Published:
    """All steps to the end, each from what a database gives back."""
    result: Progress | Published = progress
    while isinstance(result, Progress):
        result = bluesky.publish(grant, content, stored(result))
    return result


def card_of(pds: FakeBluesky, grant: Grant) -> dict[str, Any] | None:
    """The link card of the account's only post."""
    (record,) = pds.records(grant.external_id)
    embed = record["value"].get("embed")
    assert embed is None or embed["$type"] == "app.bsky.embed.external"
    return embed and embed["external"]
