"""Media of a post: each file is uploaded as a blob, and the record embeds the blobs as the server has named them.

A blob that no record refers to is kept for a while only. A blob is named by its bytes, so uploading a file again gives
the same one. Videos come as blobs from the video service (video.py). Sources: the lexicons app.bsky.embed.images and
app.bsky.embed.video, and the reference implementation of com.atproto.repo.uploadBlob.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from accounts.platforms.bluesky.xrpc import XrpcError, platform_error, refusal, upload
from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.types import MediaFile
from config.outbound import OutboundError

MAX_IMAGES = 4


def check(media: Sequence[MediaFile]) -> None:
    """Raise ContentRejected for files that no embed takes together; validation tells the caller so beforehand."""
    kinds = {file.kind for file in media}
    if kinds != {"video"} and not kinds <= {"image", "gif"}:
        raise ContentRejected("A Bluesky post takes images or one video, and nothing else.")
    if len(media) > (1 if "video" in kinds else MAX_IMAGES):
        raise ContentRejected(f"A Bluesky post takes {MAX_IMAGES} images or one video.")


def keep(pds: str, access_token: str, file: MediaFile) -> dict[str, Any]:
    """Upload the file; the answer is the blob, which goes into the record as it stands.

    Raises ContentRejected, TokenExpired, AccountDisconnected, Transient. Repeating it does no harm.
    """
    try:
        with file.open() as opened:
            answer = upload(
                pds,
                "com.atproto.repo.uploadBlob",
                opened,
                mime_type=file.mime_type,
                size_bytes=file.size_bytes,
                token=access_token,
            )
    except OutboundError as error:
        raise platform_error(error) from error
    except XrpcError as error:
        raise refusal(error) from error
    if blob := blob_in(answer):
        return blob
    raise Transient("The account's Bluesky server did not say what it made of a file.")


def blob_in(answer: Mapping[str, Any]) -> dict[str, Any] | None:
    """The blob that an answer names, if it names one."""
    match answer.get("blob"):
        case {"$type": "blob", "ref": {"$link": str()}, "mimeType": str(), "size": int()}:
            return dict(answer["blob"])
    return None


def embed(media: Sequence[MediaFile], blobs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What the record shows of its blobs, in the order of the files. A GIF is shown as a still picture."""
    if media[0].kind == "video":
        described = {"alt": media[0].alt_text} if media[0].alt_text else {}
        return {"$type": "app.bsky.embed.video", "video": blobs[0], **described, **_aspect_ratio(media[0])}
    images = [
        {"image": blob, "alt": file.alt_text, **_aspect_ratio(file)} for file, blob in zip(media, blobs, strict=True)
    ]
    return {"$type": "app.bsky.embed.images", "images": images}


def _aspect_ratio(file: MediaFile) -> dict[str, Any]:
    if not file.width or not file.height:
        return {}
    return {"aspectRatio": {"width": file.width, "height": file.height}}
