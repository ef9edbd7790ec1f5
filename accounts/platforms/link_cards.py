"""Link cards that the service creates for URLs in posts: the option `link_card` and its validation.

If the platform does not fetch the links of a post (`Capabilities.link_preview` is "service"), the service fetches the page
and attaches a card. A post has one embed, so a post with media has no card.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_noop

from accounts.platforms.issues import Issue, issue_with_hint
from accounts.platforms.schemas import object_schema
from accounts.platforms.types import Capabilities
from accounts.platforms.web_pages import MAX_DESCRIPTION, MAX_TITLE

OPTION_NAME = "link_card"

LINK_CARD_SCHEMA: Mapping[str, Any] = {
    "description": (
        gettext_noop(
            "The card below the text: `auto` shows the page of the first link, `none` shows none, and an object shows the "
            "page at its url in your own words. A post with media has no card."
        )
    ),
    "default": "auto",
    "anyOf": [
        {"type": "string", "enum": ["auto", "none"]},
        object_schema(
            ["url", "title"],
            url={
                "type": "string",
                "pattern": r"^https?://[^\s]+$",
                "maxLength": 2048,
                "description": "The page that the card leads to; its picture is shown.",
            },
            title={"type": "string", "pattern": r"\S", "maxLength": MAX_TITLE},
            description={"type": "string", "maxLength": MAX_DESCRIPTION, "description": "The page's own, if you give none."},
        ),
    ],
}


def link_card_issues(
    platform: str, capabilities: Capabilities, options: Mapping[str, Any], field: str, *, with_media: bool
) -> list[Issue]:
    """Return the validation issues of a post's option `link_card`, such as a link card beside media."""
    if capabilities.link_preview != "service" or not with_media or not isinstance(options.get(OPTION_NAME), dict):
        return []
    message = f"{platform} shows media or a link card, not both."
    code, where = "LINK_CARD_WITH_MEDIA", f"{field}.{OPTION_NAME}"
    return [issue_with_hint(code, where, message, "set_option", "Leave the link card out.", "none")]
