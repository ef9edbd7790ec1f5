"""The text of a post as HTML, with its links, hashtags and mentions marked as platforms colour them."""

from __future__ import annotations

import re
from collections.abc import Container

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

# The names of the groups are those of the platforms' features.
MARKED_PARTS = re.compile(
    r"""(?P<links>https?://[^\s<>"]*[^\s<>".,;:!?'()\[\]{}])"""
    r"|(?<![\w/&])(?P<hashtags>[#＃]\w+)"
    r"|(?<![\w/.@-])(?P<mentions>@\w+(?:[.@-]\w+)*)"
)


def mark_links_tags_and_mentions(text: str, features: Container[str]) -> SafeString:
    """Return a post's text as HTML, marking those links, hashtags and mentions that are among the platform's `features`."""
    pieces: list[SafeString | str] = []
    end = 0
    for found in MARKED_PARTS.finditer(text):
        if found.lastgroup in features:
            pieces += [text[end : found.start()], format_html('<span class="marked">{}</span>', found[0])]
            end = found.end()
    return format_html_join("", "{}", ((piece,) for piece in [*pieces, text[end:]]))


def first_link(text: str) -> str:
    """Return the first link in a post's text that pages would mark as a link; an empty string if there is none."""
    return next((found[0] for found in MARKED_PARTS.finditer(text) if found.lastgroup == "links"), "")
