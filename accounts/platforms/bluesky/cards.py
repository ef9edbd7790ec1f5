"""Link cards of Bluesky posts (app.bsky.embed.external). The client creates them, because the server fetches no pages.

A card needs two steps: the page is read, then its picture is uploaded as a blob. Both may be repeated. If the page or the
picture is unavailable, the post is published without its card or the card without its picture. Source: the lexicon
app.bsky.embed.external.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from accounts.platforms.bluesky import blobs
from accounts.platforms.bluesky.richtext import first_link
from accounts.platforms.bluesky.xrpc import Xrpc
from accounts.platforms.errors import ContentRejected
from accounts.platforms.link_cards import OPTION
from accounts.platforms.thumbnails import jpeg_thumbnail
from accounts.platforms.types import Content, MediaFile, Progress
from accounts.platforms.web_pages import Page, PageUnavailable, fetch_picture, read_page

MAX_THUMB_BYTES = 1_000_000
MAX_PICTURE_ADDRESS = 2048

State = Mapping[str, Any]


def card_link(text: str, options: Mapping[str, Any], *, with_media: bool) -> str | None:
    """The page for which a Bluesky post shows a link card; None for a post without a card."""
    wanted = options.get(OPTION, "auto")
    if with_media:
        return None
    if isinstance(wanted, dict) and isinstance(wanted.get("url"), str):
        return str(wanted["url"])
    return first_link(text) if wanted == "auto" else None


def read(content: Content) -> Progress:
    """Read the page of a Bluesky link card.

    The next step is `picture` if the page names a picture, otherwise `freeze`; a post without a card gets a note.
    """
    link = card_link(content.text, content.options, with_media=False) or ""
    wanted = content.options.get(OPTION)
    own = wanted if isinstance(wanted, dict) else {}
    page, reason = Page(), "has no title"
    try:
        page = read_page(link)
    except PageUnavailable as error:
        reason = str(error)
    title = own.get("title") or page.title
    if not title:
        return Progress("freeze", {"note": f"The post has no link card: the page at {_host(link)} {reason}."})
    card = {"uri": link, "title": title, "description": own.get("description", page.description)}
    if 0 < len(page.picture) <= MAX_PICTURE_ADDRESS:
        return Progress("picture", {"card": card, "picture": page.picture})
    return Progress("freeze", {"card": card})


def add_picture(server: Xrpc, state: State) -> Progress:
    """Upload the picture of a Bluesky link card as a blob. Raises TokenExpired, AccountDisconnected, Transient."""
    card = {name: value for name, value in state["card"].items() if name != "thumb"}
    blob = _picture(server, state["picture"])
    return Progress("freeze", {**state, "card": {**card, "thumb": blob} if blob else card})


def _picture(server: Xrpc, address: str) -> dict[str, Any] | None:
    """Upload a small copy of a link card's picture to Bluesky.

    Returns the blob; None if the file is not an image, or if the server refuses it.
    """
    try:
        small = jpeg_thumbnail(fetch_picture(address), max_bytes=MAX_THUMB_BYTES)
    except PageUnavailable:
        return None
    if small is None:
        return None
    file = MediaFile("image", "image/jpeg", len(small), open=lambda: io.BytesIO(small))
    try:
        return blobs.upload(server, file)
    except ContentRejected:
        return None


def _host(link: str) -> str:
    try:
        return urlsplit(link).hostname or "the link"
    except ValueError:
        return "the link"
