"""The steps of a publication on Pinterest, each taken from its progress as a database returns it."""

from __future__ import annotations

import json
from typing import Any

from accounts.platforms.base import START
from accounts.platforms.pinterest.adapter import Pinterest
from accounts.platforms.types import Content, Grant, MediaFile, Progress, Published
from tests.accounts.platforms.media_files import media_file, picture


def pin(*media: MediaFile, text: str = "Hello", **options: Any) -> Content:
    """A pin to publish: by default an image on the board Recipes."""
    return Content("tgt_1", text, {"board": "Recipes", **options}, media=media or (media_file(picture()),))


def step(grant: Grant, content: Content, progress: Progress = START) -> Progress | Published:
    """Take one step."""
    stored = Progress.from_stored(progress.phase, json.loads(json.dumps(progress.to_stored())))
    return Pinterest().publish_step(grant, content, stored)


def go_to(phase: str, grant: Grant, content: Content, progress: Progress = START) -> Progress:
    """Take all steps before `phase`."""
    while progress.phase != phase:
        following = step(grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
    return progress


def publish(grant: Grant, content: Content, progress: Progress = START) -> Published:
    """Take all steps."""
    result: Progress | Published = progress
    while isinstance(result, Progress):
        result = step(grant, content, result)
    return result
