"""What Mastodon takes: the defaults of Mastodon 4.5. Source: docs.joinmastodon.org, user/posting and entities/Instance.

An instance may announce other limits (GET /api/v2/instance); they are read at connection and held against every post.
Counting is that of its StatusLengthValidator.
"""

from __future__ import annotations

from accounts.platforms.counting import URL_LENGTH, mastodon_graphemes
from accounts.platforms.types import Capabilities, ImageRules, MediaRules, Pace, TextRules, VideoRules

_IMAGE_BYTES = 16_777_216
_IMAGE_PIXELS = 33_177_600

CAPABILITIES = Capabilities(
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
            max_bytes=_IMAGE_BYTES,
            max_count=4,
            max_pixels=_IMAGE_PIXELS,
        ),
        # An animated GIF becomes a video, and stands alone as one does.
        gifs=ImageRules(mime_types=("image/gif",), max_bytes=_IMAGE_BYTES, max_count=1, max_pixels=_IMAGE_PIXELS),
        videos=VideoRules(
            mime_types=("video/mp4", "video/quicktime", "video/webm", "video/ogg"), max_bytes=103_809_024
        ),
        alt_text_max_length=1500,
    ),
    features=(
        "text",
        "links",
        "mentions",
        "hashtags",
        "images",
        "gif",
        "video",
        "alt_text",
        "content_warning",
        "visibility",
        "languages",
    ),
    retry_safety="verifiable",
    options={
        "type": "object",
        "properties": {
            "visibility": {
                "type": "string",
                "description": "Who sees the post; the account's own setting where it is left out.",
                "enum": ["public", "unlisted", "private", "direct"],
            },
            "spoiler_text": {
                "type": "string",
                "description": "A content warning that the post is folded behind. Its length counts with the text's.",
                "minLength": 1,
                "maxLength": 500,
            },
            "sensitive": {
                "type": "boolean",
                "description": "Whether the media are hidden until a reader asks for them.",
            },
            "language": {
                "type": "string",
                "description": "The language of the text as an ISO 639 code, such as en.",
                "pattern": "^[a-z]{2,3}$",
            },
        },
        "additionalProperties": False,
    },
    pace=Pace(seconds=36, burst=300),  # 300 posts in three hours
)

SCOPES = ("read:accounts", "read:statuses", "write:statuses", "write:media")

_INSTANCE = {
    "type": "string",
    "description": "The host name of the account's server, such as mastodon.social, or its https address.",
    "minLength": 1,
    "maxLength": 512,
}
OAUTH_SCHEMA = {
    "type": "object",
    "properties": {"instance": _INSTANCE},
    "required": ["instance"],
    "additionalProperties": False,
}
CREDENTIALS_SCHEMA = {
    "type": "object",
    "properties": {
        "instance": _INSTANCE,
        "access_token": {
            "type": "string",
            "description": "An access token of the account, from the server's Settings, Development, with the scopes "
            f"{', '.join(SCOPES)}.",
            "minLength": 1,
            "maxLength": 512,
        },
    },
    "required": ["instance", "access_token"],
    "additionalProperties": False,
}
