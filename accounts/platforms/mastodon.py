"""Mastodon, and servers that speak its API.

Limits are the defaults of Mastodon 4.5; an instance may announce others (GET /api/v2/instance). Counting is that of its
StatusLengthValidator. Whether a post is there can be looked up, so it is verifiable. Source: docs.joinmastodon.org.
"""

from __future__ import annotations

from accounts.platforms.base import Platform
from accounts.platforms.counting import URL_LENGTH, mastodon_graphemes
from accounts.platforms.types import Capabilities, ImageRules, MediaRules, TextRules, VideoRules


class Mastodon(Platform):
    """Accounts on any server with Mastodon's API; not connected by this service yet."""

    name = "mastodon"
    label = "Mastodon"
    method = "credentials"
    credentials_schema = {
        "type": "object",
        "properties": {
            "instance": {
                "type": "string",
                "description": "The host name of the account's server, such as mastodon.social.",
                "minLength": 1,
                "maxLength": 512,
            },
            "access_token": {
                "type": "string",
                "description": "An access token of the account, from the server's Settings, Development, with the scopes "
                "write:statuses, write:media and read:accounts.",
                "minLength": 1,
                "maxLength": 512,
            },
        },
        "required": ["instance", "access_token"],
        "additionalProperties": False,
    }
    capabilities = Capabilities(
        text=TextRules(max_length=500, counted_as="graphemes", count=mastodon_graphemes, url_length=URL_LENGTH),
        media=MediaRules(
            max_count=4,
            images=ImageRules(
                mime_types=(
                    "image/jpeg",
                    "image/png",
                    "image/gif",
                    "image/webp",
                    "image/avif",
                    "image/heic",
                    "image/heif",
                ),
                max_bytes=16_777_216,
                max_count=4,
                max_pixels=33_177_600,
            ),
            videos=VideoRules(
                mime_types=("video/mp4", "video/quicktime", "video/webm", "video/ogg"), max_bytes=103_809_024
            ),
            alt_text_max_length=1500,
        ),
        features=("text", "links", "mentions", "hashtags", "images", "video", "alt_text"),
        retry_safety="verifiable",
    )
