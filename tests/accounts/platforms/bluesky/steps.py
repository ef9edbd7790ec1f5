"""The steps of a publication, as the engine takes them."""

from __future__ import annotations

import json
from typing import Any

from accounts.platforms.base import START
from accounts.platforms.bluesky.adapter import Bluesky
from accounts.platforms.types import Content, Grant, Progress, Published


def start(bluesky: Bluesky, grant: Grant, text: str, **options: Any) -> Progress:
    """The first step, which publishes nothing."""
    progress = bluesky.publish(grant, Content("tgt_1", text, options), START)
    assert isinstance(progress, Progress)
    return progress


def put(bluesky: Bluesky, grant: Grant, progress: Progress) -> Published:
    """The last step, from the state as a database gives it back."""
    published = bluesky.publish(grant, Content("tgt_1", "not looked at any more"), stored(progress))
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
