"""What Slack takes. Sources: docs.slack.dev (chat.postMessage, incoming webhooks, rate limits, scopes).

Slack advises 4,000 characters at most and cuts what is longer than 40,000. Files are left out: a webhook takes none.
`chat:write.public` lets the app post to public channels that it has not joined.
"""

from __future__ import annotations

from accounts.platforms.counting import characters
from accounts.platforms.types import Capabilities, MediaRules, Pace, TextRules

SCOPES = ("chat:write", "chat:write.public", "channels:read", "groups:read")

CAPABILITIES = Capabilities(
    text=TextRules(max_length=4000, counted_as="characters", count=characters),
    media=MediaRules(max_count=0),
    features=("text", "links", "formatting", "replies"),
    retry_safety="at_most_once",
    link_preview="platform",
    not_possible=(
        "A message cannot go to a person: only to channels.",
        "A message cannot appear in a person's name: it bears the name of the app or of the webhook.",
        "An app cannot post to a private channel that it has not been invited to.",
        "An incoming webhook cannot carry files.",
        "The service cannot tell the address of a message that an incoming webhook posted.",
        "Buttons, menus and other blocks are not possible.",
    ),
    options={
        "type": "object",
        "properties": {
            "thread_ts": {
                "type": "string",
                "description": "The timestamp of a message, such as 1503435956.000247: the post becomes a reply to it.",
                "maxLength": 19,
                "pattern": r"^[0-9]{1,12}\.[0-9]{6}$",
            },
            "mrkdwn": {
                "type": "boolean",
                "description": "Whether *bold*, _italic_, `code` and the like are shown as such; true where it is left out.",
            },
            "unfurl_links": {"type": "boolean", "description": "Whether pages that are linked are previewed."},
            "unfurl_media": {"type": "boolean", "description": "Whether images and videos that are linked are shown."},
        },
        "additionalProperties": False,
    },
    # One message a second for each channel; short bursts may be faster.
    pace=Pace(seconds=1, burst=3),
)

CREDENTIALS_SCHEMA = {
    "type": "object",
    "properties": {
        "webhook_url": {
            "type": "string",
            "title": "Webhook address",
            "writeOnly": True,
            "format": "uri",
            "description": "The channel's incoming webhook address, https://hooks.slack.com/services/….",
            "pattern": "^https?://",
            "maxLength": 512,
        }
    },
    "required": ["webhook_url"],
    "additionalProperties": False,
}
