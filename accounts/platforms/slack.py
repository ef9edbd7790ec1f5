"""Slack channels, by an incoming webhook.

Slack advises 4,000 characters at most and truncates beyond 40,000. A webhook takes no files and answers no id.
Source: docs.slack.dev.
"""

from __future__ import annotations

from accounts.platforms.base import Platform
from accounts.platforms.counting import characters
from accounts.platforms.types import Capabilities, MediaRules, TextRules


class Slack(Platform):
    """Channels that an incoming webhook opens; not connected by this service yet."""

    name = "slack"
    label = "Slack"
    methods = ("credentials",)
    credentials_schema = {
        "type": "object",
        "properties": {
            "webhook_url": {
                "type": "string",
                "format": "uri",
                "description": "The channel's incoming webhook address, https://hooks.slack.com/services/….",
                "pattern": "^https://",
                "maxLength": 512,
            }
        },
        "required": ["webhook_url"],
        "additionalProperties": False,
    }
    capabilities = Capabilities(
        text=TextRules(max_length=4000, counted_as="characters", count=characters),
        media=MediaRules(max_count=0),
        features=("text", "links"),
        retry_safety="at_most_once",
    )
