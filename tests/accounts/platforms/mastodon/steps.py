"""The steps of a publication, as the engine takes them: each from the state as a database gives it back."""

from __future__ import annotations

import io
import json
from typing import Any

from accounts.platforms.base import START
from accounts.platforms.mastodon.adapter import Mastodon
from accounts.platforms.types import Absent, Authorization, Content, Grant, MediaFile, Progress, Published

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
REDIRECT = "https://publish.example/dashboard/connect/callback"
BEGUN = Progress("create", {"key": "tgt_1-k", "after": "6", "media": [], "pending": [], "looks": 0})


def authorize(mastodon: Mastodon, address: str) -> Authorization:
    """The consent page of the server at this address."""
    return mastodon.authorize(state="a-state", redirect_uri=REDIRECT, given={"instance": address})


def post(text: str = "Hello", *media: MediaFile, **options: Any) -> Content:
    """What is to be published."""
    return Content("tgt_1", text, options, media=media)


def image(content: bytes = PNG, alt_text: str = "", filename: str = "photo.png") -> MediaFile:
    """A still image."""
    return MediaFile(
        "image", "image/png", len(content), alt_text=alt_text, filename=filename, open=lambda: io.BytesIO(content)
    )


def video(content: bytes = b"moving") -> MediaFile:
    """A video."""
    return MediaFile("video", "video/mp4", len(content), filename="clip.mp4", open=lambda: io.BytesIO(content))


def step(mastodon: Mastodon, grant: Grant, content: Content, progress: Progress = START) -> Progress | Published:
    """One step."""
    return mastodon.publish(grant, content, stored(progress))


def go_to(phase: str, mastodon: Mastodon, grant: Grant, content: Content, progress: Progress = START) -> Progress:
    """All steps before `phase`."""
    while progress.phase != phase:
        following = step(mastodon, grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
    return progress


def publish(mastodon: Mastodon, grant: Grant, content: Content, progress: Progress = START) -> Published:
    """All steps to the end."""
    result: Progress | Published = progress
    while isinstance(result, Progress):
        result = step(mastodon, grant, content, result)
    return result


def look(mastodon: Mastodon, grant: Grant, content: Content, progress: Progress) -> Progress | Published | Absent:
    """Look for what an earlier try of the step may have published."""
    return mastodon.find(grant, content, stored(progress))


def stored(progress: Progress) -> Progress:
    """The progress as a database gives it back."""
    return Progress(progress.phase, json.loads(json.dumps(progress.state)))
