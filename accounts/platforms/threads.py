"""Threads (Meta).

500 characters, an emoji counted by its bytes in UTF-8; a carousel mixes up to 20 images and videos.
Source: developers.facebook.com/docs/threads.
"""

from __future__ import annotations

from accounts.platforms.base import Platform
from accounts.platforms.counting import threads_characters
from accounts.platforms.types import Capabilities, ImageRules, MediaRules, TextRules, VideoRules


class Threads(Platform):
    """Threads profiles; not connected by this service yet."""

    name = "threads"
    label = "Threads"
    capabilities = Capabilities(
        text=TextRules(max_length=500, counted_as="characters_emoji_bytes", count=threads_characters),
        media=MediaRules(
            max_count=20,
            mixed=True,
            images=ImageRules(mime_types=("image/jpeg", "image/png"), max_bytes=8_000_000, max_count=20),
            videos=VideoRules(
                mime_types=("video/mp4", "video/quicktime"),
                max_bytes=1_000_000_000,
                max_duration_seconds=300,
                max_count=20,
            ),
            alt_text_max_length=1000,
        ),
        features=("text", "links", "mentions", "hashtags", "images", "video", "alt_text"),
        retry_safety="at_most_once",
    )
