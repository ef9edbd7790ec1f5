"""Instagram professional accounts (Meta).

A caption of 2,200 characters with at most 30 hashtags and 20 mentions; JPEG only; a carousel mixes up to 10 images and
videos; no post of text alone; links in captions are dead text. Alt text is taken for images, its length is not stated.
Sources: developers.facebook.com/docs/instagram-platform, and for video sizes the guidelines of a third party.
"""

from __future__ import annotations

import re

from accounts.platforms.base import Platform
from accounts.platforms.counting import characters
from accounts.platforms.types import Capabilities, ImageRules, MediaRules, TextRules, VideoRules

_HASHTAG = re.compile(r"(?<![\w&])#\w*[^\W\d_]\w*")
_MENTION = re.compile(r"(?<![\w.])@\w[\w.]*")


def hashtags(text: str) -> int:
    """How many hashtags the text holds."""
    return len(_HASHTAG.findall(text))


def mentions(text: str) -> int:
    """How many @mentions the text holds."""
    return len(_MENTION.findall(text))


class Instagram(Platform):
    """Instagram professional accounts; not connected by this service yet."""

    name = "instagram"
    label = "Instagram"
    capabilities = Capabilities(
        text=TextRules(
            max_length=2200,
            counted_as="characters",
            count=characters,
            also=(("hashtags", 30, hashtags), ("mentions", 20, mentions)),
        ),
        media=MediaRules(
            max_count=10,
            mixed=True,
            images=ImageRules(mime_types=("image/jpeg",), max_bytes=8_388_608, max_count=10),
            videos=VideoRules(
                mime_types=("video/mp4", "video/quicktime"),
                max_bytes=300_000_000,
                max_duration_seconds=900,
                max_count=10,
            ),
            required=True,
        ),
        features=("text", "mentions", "hashtags", "images", "video", "alt_text"),
        retry_safety="at_most_once",
    )
