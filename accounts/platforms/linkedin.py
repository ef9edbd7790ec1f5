"""LinkedIn members and pages (Posts API).

3,000 characters before escaping; up to 20 images, or one video. No idempotency key. Sources: learn.microsoft.com/linkedin,
and for file sizes the guidelines of a third party.
"""

from __future__ import annotations

from accounts.platforms.base import Platform
from accounts.platforms.counting import characters
from accounts.platforms.types import Capabilities, ImageRules, MediaRules, TextRules, VideoRules


class LinkedIn(Platform):
    """LinkedIn members and pages; not connected by this service yet."""

    name = "linkedin"
    label = "LinkedIn"
    capabilities = Capabilities(
        text=TextRules(max_length=3000, counted_as="characters", count=characters),
        media=MediaRules(
            max_count=20,
            images=ImageRules(
                mime_types=("image/jpeg", "image/png", "image/gif"),
                max_bytes=5_000_000,
                max_count=20,
                max_pixels=36_152_319,
            ),
            videos=VideoRules(mime_types=("video/mp4",), max_bytes=500_000_000, max_duration_seconds=1800),
            alt_text_max_length=4086,
        ),
        features=("text", "links", "mentions", "hashtags", "images", "video", "alt_text"),
        retry_safety="at_most_once",
    )
