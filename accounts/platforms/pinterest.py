"""Pinterest pins (API v5): up to five images, or one video; no pin of text alone.

The text is the pin's description, 800 characters; title and link have limits of their own.
Source: github.com/pinterest/api-description 5.23.
"""

from __future__ import annotations

from accounts.platforms.base import Platform
from accounts.platforms.counting import characters
from accounts.platforms.types import Capabilities, ImageRules, MediaRules, TextRules, VideoRules


class Pinterest(Platform):
    """Pinterest accounts; not connected by this service yet."""

    name = "pinterest"
    label = "Pinterest"
    capabilities = Capabilities(
        text=TextRules(max_length=800, counted_as="characters", count=characters),
        media=MediaRules(
            max_count=5,
            images=ImageRules(mime_types=("image/jpeg", "image/png"), max_bytes=20_000_000, max_count=5),
            videos=VideoRules(
                mime_types=("video/mp4", "video/quicktime"), max_bytes=2_000_000_000, max_duration_seconds=900
            ),
            alt_text_max_length=500,
            required=True,
        ),
        features=("text", "links", "hashtags", "images", "video", "alt_text"),
        retry_safety="at_most_once",
    )
