"""The steps of a publication on Bluesky, each taken from its progress as a database returns it."""

from __future__ import annotations

import json
from typing import Any

from accounts.platforms.base import START
from accounts.platforms.bluesky.adapter import Bluesky
from accounts.platforms.types import Content, Grant, Progress, Published
from tests.fakes.bluesky import FakeBluesky


def start(bluesky: Bluesky, grant: Grant, text: str, **options: Any) -> Progress:
    """Take the first step of a Bluesky post without a link card; it publishes nothing."""
    progress = bluesky.publish_step(grant, Content("tgt_1", text, {"link_card": "none", **options}), START)
    assert isinstance(progress, Progress)
    return progress


def put(bluesky: Bluesky, grant: Grant, progress: Progress) -> Published:
    """Take the step that puts the record of a Bluesky post."""
    published = bluesky.publish_step(grant, Content("tgt_1", "ignored"), stored(progress))
    assert isinstance(published, Published)
    return published


def prepare(bluesky: Bluesky, grant: Grant, content: Content, progress: Progress = START) -> Progress:
    """Take the steps of a publication on Bluesky from `progress` up to the one that publishes."""
    while progress.phase != "put":
        progress = step(bluesky, grant, content, progress)
    return progress


def step(bluesky: Bluesky, grant: Grant, content: Content, progress: Progress) -> Progress:
    """Take one step of a publication on Bluesky that does not publish."""
    after = bluesky.publish_step(grant, content, stored(progress))
    assert isinstance(after, Progress)
    return after


def stored(progress: Progress) -> Progress:
    """The progress of a publication on Bluesky as a database returns it."""
    return Progress.from_stored(progress.phase, json.loads(json.dumps(progress.to_stored())))


def linking(link: str, **options: Any) -> Content:
    """A Bluesky post whose text contains this link."""
    return Content("tgt_1", f"Read {link} and more", options)


def publish(bluesky: Bluesky, grant: Grant, content: Content, progress: Progress = START) -> Published:
    """Take all steps of a publication on Bluesky."""
    result: Progress | Published = progress
    while isinstance(result, Progress):
        result = bluesky.publish_step(grant, content, stored(result))
    return result


def card_of(pds: FakeBluesky, grant: Grant) -> dict[str, Any] | None:
    """The link card of the Bluesky account's only post; None if it has none."""
    (record,) = pds.records(grant.external_id)
    embed = record["value"].get("embed")
    assert embed is None or embed["$type"] == "app.bsky.embed.external"
    return embed and embed["external"]
