"""What Bluesky takes. Source: the lexicons app.bsky.feed.post and app.bsky.embed.*, and its clients' limits."""

from __future__ import annotations

from accounts.platforms.counting import graphemes, utf8_bytes
from accounts.platforms.types import Capabilities, ImageRules, MediaRules, TextRules, VideoRules

CAPABILITIES = Capabilities(
    text=TextRules(max_length=300, counted_as="graphemes", count=graphemes, also=(("bytes", 3000, utf8_bytes),)),
    media=MediaRules(
        max_count=4,
        # The lexicon allows images twice as large and videos three times as large; older servers do not.
        images=ImageRules(
            mime_types=("image/jpeg", "image/png", "image/webp", "image/gif"), max_bytes=1_000_000, max_count=4
        ),
        videos=VideoRules(mime_types=("video/mp4",), max_bytes=100_000_000, max_duration_seconds=180),
    ),
    features=("text", "links", "mentions", "hashtags", "languages"),
    retry_safety="idempotent",
    options={
        "type": "object",
        "properties": {
            "langs": {
                "type": "array",
                "description": "The languages of the text as BCP 47 tags, such as en or pt-BR.",
                "items": {"type": "string", "pattern": "^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$"},
                "maxItems": 3,
            }
        },
        "additionalProperties": False,
    },
)

CREDENTIALS_SCHEMA = {
    "type": "object",
    "properties": {
        "identifier": {
            "type": "string",
            "description": "The account's handle, such as alice.bsky.social, its e-mail address or its DID.",
            "minLength": 1,
            "maxLength": 512,
        },
        "app_password": {
            "type": "string",
            "description": "An app password, made in Bluesky's settings; never the account's own password.",
            "minLength": 1,
            "maxLength": 256,
        },
        "service": {
            "type": "string",
            "format": "uri",
            "description": "The https address of the account's server, for accounts that are not at Bluesky itself.",
            "minLength": 1,
            "maxLength": 512,
        },
    },
    "required": ["identifier", "app_password"],
    "additionalProperties": False,
}
