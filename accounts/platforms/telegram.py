"""Telegram channels and groups, by a bot (Bot API).

UTF-16 units are the safe bound: limits hold for the text after markup, entity offsets are counted so. A text that goes
out as the caption of media is limited to 1,024. Sources: core.telegram.org/bots/api and the constants of its libraries.
"""

from __future__ import annotations

from accounts.platforms.base import Platform
from accounts.platforms.counting import utf16_units
from accounts.platforms.types import Capabilities, ImageRules, MediaRules, TextRules, VideoRules


class Telegram(Platform):
    """Chats that a bot may post to; not connected by this service yet."""

    name = "telegram"
    label = "Telegram"
    method = "credentials"
    credentials_schema = {
        "type": "object",
        "properties": {
            "bot_token": {
                "type": "string",
                "description": "The bot's token, as @BotFather gave it: digits, a colon, letters.",
                "pattern": "^[0-9]+:[A-Za-z0-9_-]+$",
                "maxLength": 256,
            },
            "chat_id": {
                "type": "string",
                "description": "The chat to post to: @channelname, or the chat's number, such as -1001234567890. "
                "The bot must be an administrator of a channel.",
                "pattern": "^(@[A-Za-z0-9_]+|-?[0-9]+)$",
                "maxLength": 64,
            },
        },
        "required": ["bot_token", "chat_id"],
        "additionalProperties": False,
    }
    capabilities = Capabilities(
        text=TextRules(max_length=4096, counted_as="utf16", count=utf16_units),
        media=MediaRules(
            max_count=10,
            mixed=True,
            images=ImageRules(mime_types=("image/jpeg", "image/png", "image/webp"), max_bytes=10_000_000, max_count=10),
            videos=VideoRules(mime_types=("video/mp4",), max_bytes=50_000_000, max_count=10),
        ),
        features=("text", "links", "mentions", "hashtags", "images", "video"),
        retry_safety="at_most_once",
    )
