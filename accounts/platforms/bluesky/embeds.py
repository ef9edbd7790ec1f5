"""The embed of a Bluesky post: the images, the video or the link card that the post shows below its text.

The server removes a blob after a while if no record refers to it. A blob is named by its bytes, so uploading a file again
gives the same one. Videos become blobs through the video service (video.py).

The client creates link cards, because the server fetches no pages. A card needs two steps: the page is read, then its
picture is uploaded as a blob. Both may be repeated. If the page or the picture is unavailable, the post is published without
its card or the card without its picture.
Sources: the lexicons app.bsky.embed.images, .video and .external, and the reference implementation of
com.atproto.repo.uploadBlob.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext_noop

from accounts.platforms.bluesky.xrpc import ERRORS, Xrpc
from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.link_cards import OPTION_NAME
from accounts.platforms.thumbnails import jpeg_thumbnail_or_none
from accounts.platforms.types import Content, MediaFile, Progress, State
from accounts.platforms.web_pages import PageMetadata, PageUnavailable, fetch_page_metadata, fetch_picture_bytes

MAX_IMAGES = 4
MAX_THUMB_BYTES = 1_000_000
MAX_PICTURE_URL_LENGTH = 2048


def check_files_fit_one_embed(media: Sequence[MediaFile]) -> None:
    """Raise ContentRejected if a Bluesky post's files cannot be combined in one embed, such as a video and an image.

    Validation normally reports this before the publication begins.
    """
    kinds = {file.kind for file in media}
    if kinds != {"video"} and not kinds <= {"image", "gif"}:
        raise ContentRejected(gettext_noop("A Bluesky post accepts images or one video, and nothing else."))
    if len(media) > (1 if "video" in kinds else MAX_IMAGES):
        raise ContentRejected(f"A Bluesky post accepts {MAX_IMAGES} images or one video.")


def upload_blob(server: Xrpc, file: MediaFile) -> dict[str, Any]:
    """Upload a file for the embed of a Bluesky post. Returns the server's reference to the file (a blob).

    An upload may be repeated. Raises ContentRejected, TokenExpired, ReauthRequired, Transient.
    """
    with file.open() as opened, ERRORS.translating_content_call_errors(gettext_noop("this file")):
        answer = server.upload("com.atproto.repo.uploadBlob", opened, mime_type=file.mime_type, size_bytes=file.size_bytes)
    if blob := blob_in_response_or_none(answer):
        return blob
    raise Transient(gettext_noop("The account's Bluesky server did not name the blob of an uploaded file."))


def blob_in_response_or_none(answer: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the blob (reference to an uploaded file) for the embed of a Bluesky post, from a response; None without one."""
    match answer.get("blob"):
        case {"$type": "blob", "ref": {"$link": str()}, "mimeType": str(), "size": int()}:
            return dict(answer["blob"])
    return None


def fill_link_card_from_page(link: str, content: Content, progress: Progress) -> Progress:
    """Fill the link card (an embed) of a Bluesky post with the title and description of the linked web page.

    The next step is `picture` if the page names a picture, otherwise `freeze`; a post without a card gets a note.
    """
    wanted = content.options.get(OPTION_NAME)
    own = wanted if isinstance(wanted, dict) else {}
    page, reason = PageMetadata(), gettext_noop("has no title")
    try:
        page = fetch_page_metadata(link)
    except PageUnavailable as error:
        reason = str(error)
    title = own.get("title") or page.title
    if not title:
        return progress.with_next_step("freeze", {"note": f"The post has no link card: the page at {_host(link)} {reason}."})
    card = {"uri": link, "title": title, "description": own.get("description", page.description)}
    if 0 < len(page.picture) <= MAX_PICTURE_URL_LENGTH:
        return progress.with_next_step("picture", {"card": card, "picture": page.picture})
    return progress.with_next_step("freeze", {"card": card})


def upload_card_picture_and_return_next_step(server: Xrpc, progress: Progress) -> Progress:
    """Publishing step that uploads the preview picture of a Bluesky link card, and returns the next step.

    Raises TokenExpired, ReauthRequired, Transient.
    """
    state = progress.state
    card = {name: value for name, value in state["card"].items() if name != "thumb"}
    blob = _picture(server, state["picture"])
    return progress.with_next_step("freeze", {**state, "card": {**card, "thumb": blob} if blob else card})


def embed_of_first_post(content: Content, state: State) -> dict[str, Any] | None:
    """Return the embed (JSON) of a Bluesky thread's first post: its images, its video or its link card, or None.

    A GIF is shown as a still image.
    """
    if not content.media:
        return {"$type": "app.bsky.embed.external", "external": state["card"]} if "card" in state else None
    media, blobs = content.media, state["blobs"]
    if media[0].kind == "video":
        alt = {"alt": media[0].alt_text} if media[0].alt_text else {}
        return {"$type": "app.bsky.embed.video", "video": blobs[0], **alt, **_aspect_ratio(media[0])}
    images = [{"image": blob, "alt": file.alt_text, **_aspect_ratio(file)} for file, blob in zip(media, blobs, strict=True)]
    return {"$type": "app.bsky.embed.images", "images": images}


def _picture(server: Xrpc, address: str) -> dict[str, Any] | None:
    """Fetch the picture of a web page, reduce it, and upload it to a Bluesky server for the link card of a post.

    Returns the blob; None if the file is not an image, or if the server refuses it.
    """
    try:
        small = jpeg_thumbnail_or_none(fetch_picture_bytes(address), max_bytes=MAX_THUMB_BYTES)
    except PageUnavailable:
        return None
    if small is None:
        return None
    file = MediaFile("image", "image/jpeg", len(small), open=lambda: io.BytesIO(small))
    try:
        return upload_blob(server, file)
    except ContentRejected:
        return None


def _host(link: str) -> str:
    try:
        return urlsplit(link).hostname or "the link"
    except ValueError:
        return "the link"


def _aspect_ratio(file: MediaFile) -> dict[str, Any]:
    if not file.width or not file.height:
        return {}
    return {"aspectRatio": {"width": file.width, "height": file.height}}
