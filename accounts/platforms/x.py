"""X (API v2).

280 weighted characters as twitter-text v3 counts; up to four images, or one GIF, or one video. A post with a URL costs
more, and what is a URL is what X would link. Apps may send one cashtag in a post. There is no idempotency key.
Sources: docs.x.com and twitter-text's configuration.
"""

from __future__ import annotations

import re

from accounts.platforms.base import Platform
from accounts.platforms.counting import URL_LENGTH, has_linked_url, weighted
from accounts.platforms.types import Capabilities, ImageRules, MediaRules, TextRules, VideoRules

_CASHTAG = re.compile(r"(?<!\S)\$[A-Za-z]{1,6}(?:[._][A-Za-z]{1,2})?(?!\w)")


def cashtags(text: str) -> int:
    """How many cashtags ($XYZ) the text holds."""
    return len(_CASHTAG.findall(text))


class X(Platform):
    """X accounts; not connected by this service yet."""

    name = "x"
    label = "X"
    capabilities = Capabilities(
        text=TextRules(
            max_length=280,
            counted_as="weighted",
            count=weighted,
            url_length=URL_LENGTH,
            also=(("cashtags", 1, cashtags),),
        ),
        media=MediaRules(
            max_count=4,
            images=ImageRules(
                mime_types=("image/jpeg", "image/png", "image/gif", "image/webp"), max_bytes=5_242_880, max_count=4
            ),
            videos=VideoRules(
                mime_types=("video/mp4", "video/quicktime"), max_bytes=512 * 1024 * 1024, max_duration_seconds=140
            ),
            alt_text_max_length=1000,
        ),
        features=("text", "links", "mentions", "hashtags", "images", "video", "alt_text"),
        retry_safety="at_most_once",
        links_url=has_linked_url,
    )
