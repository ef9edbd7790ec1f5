"""Discord channels, by a webhook.

The limit is 2,000 characters; UTF-16 units are the safe bound of what Discord counts. All files of one message together
may have 25 MiB. A webhook's messages carry no nonce. Source: docs.discord.com.
"""

from __future__ import annotations

from accounts.platforms.base import Platform
from accounts.platforms.counting import utf16_units
from accounts.platforms.types import Capabilities, ImageRules, MediaRules, TextRules, VideoRules

MAX_FILE_BYTES = 10_485_760


class Discord(Platform):
    """Channels that a webhook opens; not connected by this service yet."""

    name = "discord"
    label = "Discord"
    method = "credentials"
    credentials_schema = {
        "type": "object",
        "properties": {
            "webhook_url": {
                "type": "string",
                "format": "uri",
                "description": "The channel's webhook address, https://discord.com/api/webhooks/…, from the channel's "
                "settings, Integrations.",
                "pattern": "^https://",
                "maxLength": 512,
            }
        },
        "required": ["webhook_url"],
        "additionalProperties": False,
    }
    capabilities = Capabilities(
        text=TextRules(max_length=2000, counted_as="utf16", count=utf16_units),
        media=MediaRules(
            max_count=10,
            mixed=True,
            images=ImageRules(
                mime_types=("image/jpeg", "image/png", "image/gif", "image/webp"),
                max_bytes=MAX_FILE_BYTES,
                max_count=10,
            ),
            videos=VideoRules(
                mime_types=("video/mp4", "video/quicktime", "video/webm"), max_bytes=MAX_FILE_BYTES, max_count=10
            ),
            alt_text_max_length=1024,
        ),
        features=("text", "links", "images", "video", "alt_text"),
        retry_safety="at_most_once",
    )
