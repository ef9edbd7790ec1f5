"""TikTok (Content Posting API v2): one video, or up to 35 photos; no post of text alone.

The text is a video's title, 2,200 UTF-16 units; a photo post takes a title of 90 and a description of 4,000. What a
creator may post (length, privacy) is asked for right before each post. Source: developers.tiktok.com.
"""

from __future__ import annotations

from accounts.platforms.base import Platform
from accounts.platforms.counting import utf16_units
from accounts.platforms.types import Capabilities, ImageRules, MediaRules, TextRules, VideoRules


class TikTok(Platform):
    """TikTok creators; not connected by this service yet."""

    name = "tiktok"
    label = "TikTok"
    capabilities = Capabilities(
        text=TextRules(max_length=2200, counted_as="utf16", count=utf16_units),
        media=MediaRules(
            max_count=35,
            images=ImageRules(mime_types=("image/jpeg", "image/webp"), max_bytes=20_000_000, max_count=35),
            videos=VideoRules(
                mime_types=("video/mp4", "video/quicktime", "video/webm"),
                max_bytes=4_000_000_000,
                max_duration_seconds=600,
            ),
            required=True,
        ),
        features=("text", "mentions", "hashtags", "images", "video"),
        retry_safety="at_most_once",
    )
