"""Facebook pages (Graph API).

63,206 characters; up to 10 photos, or one video. Alt text is taken for photos, its length is not stated. No idempotency
key. Source: developers.facebook.com/docs/graph-api, and for file sizes what clients of it observed.
"""

from __future__ import annotations

from accounts.platforms.base import Platform
from accounts.platforms.counting import characters
from accounts.platforms.types import Capabilities, ImageRules, MediaRules, TextRules, VideoRules


class Facebook(Platform):
    """Facebook pages; not connected by this service yet."""

    name = "facebook"
    label = "Facebook"
    capabilities = Capabilities(
        text=TextRules(max_length=63_206, counted_as="characters", count=characters),
        media=MediaRules(
            max_count=10,
            images=ImageRules(mime_types=("image/jpeg", "image/png"), max_bytes=4_000_000, max_count=10),
            videos=VideoRules(
                mime_types=("video/mp4", "video/quicktime"), max_bytes=1_000_000_000, max_duration_seconds=14_400
            ),
        ),
        features=("text", "links", "mentions", "hashtags", "images", "video", "alt_text"),
        retry_safety="at_most_once",
    )
