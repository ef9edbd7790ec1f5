"""YouTube channels (Data API v3): exactly one video for each post.

The text is the video's description, 5,000 bytes; title and tags have limits of their own. A channel that is not verified
takes 15 minutes at most. Source: developers.google.com/youtube/v3.
"""

from __future__ import annotations

from accounts.platforms.base import Platform
from accounts.platforms.counting import utf8_bytes
from accounts.platforms.types import Capabilities, MediaRules, TextRules, VideoRules


class YouTube(Platform):
    """YouTube channels; not connected by this service yet."""

    name = "youtube"
    label = "YouTube"
    capabilities = Capabilities(
        text=TextRules(max_length=5000, counted_as="bytes", count=utf8_bytes),
        media=MediaRules(
            max_count=1,
            videos=VideoRules(
                mime_types=("video/mp4", "video/quicktime", "video/webm"),
                max_bytes=256 * 1024**3,
                max_duration_seconds=43_200,
            ),
            required=True,
        ),
        features=("text", "links", "hashtags", "video"),
        retry_safety="at_most_once",
    )
