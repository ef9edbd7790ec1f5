"""Uploading the files of a Bluesky post as blobs, and embedding the blobs in the post's record.

The server removes a blob after a while if no record refers to it. A blob is named by its bytes, so uploading a file again
gives the same one. Videos become blobs through the video service (video.py). Sources: the lexicons app.bsky.embed.images and
app.bsky.embed.video, and the reference implementation of com.atproto.repo.uploadBlob.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from accounts.platforms.bluesky.xrpc import ERRORS, Xrpc
from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.types import MediaFile

MAX_IMAGES = 4


def check(media: Sequence[MediaFile]) -> None:
    """Raise ContentRejected for files that no Bluesky embed accepts together, which validation reports before."""
    kinds = {file.kind for file in media}
    if kinds != {"video"} and not kinds <= {"image", "gif"}:
        raise ContentRejected("A Bluesky post accepts images or one video, and nothing else.")
    if len(media) > (1 if "video" in kinds else MAX_IMAGES):
        raise ContentRejected(f"A Bluesky post accepts {MAX_IMAGES} images or one video.")


def upload(server: Xrpc, file: MediaFile) -> dict[str, Any]:
    """Upload a file to the Bluesky account's server. Returns the blob, which the record embeds unchanged.

    An upload may be repeated. Raises ContentRejected, TokenExpired, AccountDisconnected, Transient.
    """
    with file.open() as opened, ERRORS.content_errors("this file"):
        answer = server.upload(
            "com.atproto.repo.uploadBlob", opened, mime_type=file.mime_type, size_bytes=file.size_bytes
        )
    if blob := blob_in(answer):
        return blob
    raise Transient("The account's Bluesky server did not name the blob of an uploaded file.")


def blob_in(answer: Mapping[str, Any]) -> dict[str, Any] | None:
    """The blob in a response of a Bluesky server; None if there is none."""
    match answer.get("blob"):
        case {"$type": "blob", "ref": {"$link": str()}, "mimeType": str(), "size": int()}:
            return dict(answer["blob"])
    return None


def embed(media: Sequence[MediaFile], blobs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The embed of a Bluesky record that shows these blobs, in the order of the files. A GIF is shown as a still image."""
    if media[0].kind == "video":
        alt = {"alt": media[0].alt_text} if media[0].alt_text else {}
        return {"$type": "app.bsky.embed.video", "video": blobs[0], **alt, **_aspect_ratio(media[0])}
    images = [
        {"image": blob, "alt": file.alt_text, **_aspect_ratio(file)} for file, blob in zip(media, blobs, strict=True)
    ]
    return {"$type": "app.bsky.embed.images", "images": images}


def _aspect_ratio(file: MediaFile) -> dict[str, Any]:
    if not file.width or not file.height:
        return {}
    return {"aspectRatio": {"width": file.width, "height": file.height}}
