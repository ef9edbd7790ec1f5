"""The steps of a publication on Mastodon, each taken from its progress as a database returns it."""

from __future__ import annotations

import io
import json
from typing import Any

from accounts.platforms.base import START
from accounts.platforms.mastodon.adapter import Mastodon
from accounts.platforms.types import (
    Content,
    Grant,
    MediaFile,
    NotPublishedProof,
    OAuthAuthorizationRequest,
    Progress,
    Published,
)

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
REDIRECT = "https://publish.example/dashboard/connect/callback"
BEGUN = Progress("create", {"key": "tgt_1-k", "after": "6", "media": [], "pending": [], "looks": 0})


def authorize(mastodon: Mastodon, address: str) -> OAuthAuthorizationRequest:
    """Begin to connect an account of the Mastodon server at this address by OAuth."""
    return mastodon.begin_oauth(state="a-state", redirect_uri=REDIRECT, given={"instance": address})


def post(text: str = "Hello", *media: MediaFile, **options: Any) -> Content:
    """A Mastodon status to publish."""
    return Content("tgt_1", text, options, media=media)


def image(content: bytes = PNG, alt_text: str = "", filename: str = "photo.png") -> MediaFile:
    """A still image of a Mastodon status."""
    return MediaFile(
        "image", "image/png", len(content), alt_text=alt_text, filename=filename, open=lambda: io.BytesIO(content)
    )


def video(content: bytes = b"moving") -> MediaFile:
    """A video of a Mastodon status."""
    return MediaFile("video", "video/mp4", len(content), filename="clip.mp4", open=lambda: io.BytesIO(content))


def step(mastodon: Mastodon, grant: Grant, content: Content, progress: Progress = START) -> Progress | Published:
    """Take one step of a publication on Mastodon."""
    return mastodon.publish_step(grant, content, stored(progress))


def go_to(phase: str, mastodon: Mastodon, grant: Grant, content: Content, progress: Progress = START) -> Progress:
    """Take all steps before `phase` of a publication on Mastodon."""
    while progress.phase != phase:
        following = step(mastodon, grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
    return progress


def publish(mastodon: Mastodon, grant: Grant, content: Content, progress: Progress = START) -> Published:
    """Take all steps of a publication on Mastodon."""
    result: Progress | Published = progress
    while isinstance(result, Progress):
        result = step(mastodon, grant, content, result)
    return result


def find(mastodon: Mastodon, grant: Grant, content: Content, progress: Progress) -> Progress | Published | NotPublishedProof:
    """Search for the Mastodon status that an earlier attempt at the step may have published."""
    return mastodon.find_or_rule_out_published_post(grant, content, stored(progress))


def stored(progress: Progress) -> Progress:
    """The progress of a publication on Mastodon as a database returns it."""
    return Progress.from_stored(progress.phase, json.loads(json.dumps(progress.to_stored())))
