"""The two steps of a publication, as the engine takes them."""

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
    """The second step, from the state as a database gives it back."""
    stored = Progress(progress.phase, json.loads(json.dumps(progress.state)))
    published = bluesky.publish(grant, Content("tgt_1", "not looked at any more"), stored)
    assert isinstance(published, Published)
    return published
