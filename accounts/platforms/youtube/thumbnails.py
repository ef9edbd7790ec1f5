"""Thumbnails of YouTube videos, which are downloaded from a URL and uploaded to YouTube.

A thumbnail is fetched twice from the URL that a post names: before the upload, so that a wrong URL is reported before
anything is published, and after it. Source: developers.google.com/youtube/v3, thumbnails.set.
"""

from __future__ import annotations

import io

from django.utils.translation import gettext_noop

from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.youtube.capabilities import MAX_THUMBNAIL_BYTES
from accounts.platforms.youtube.client import Api
from config.outbound import NotSentToForbiddenHost, OutboundError, ResponseTooLarge, download

THUMBNAIL_TYPES = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG\r\n\x1a\n": "image/png"}  # by the first bytes of a file


def fetch_thumbnail_and_mime_type(url: str) -> tuple[bytes, str]:
    """Download an image that is to be uploaded to YouTube as a thumbnail; return its bytes and MIME type.

    Raises ContentRejected, Transient.
    """
    file = io.BytesIO()
    try:
        response = download(url, file, max_bytes=MAX_THUMBNAIL_BYTES)
    except NotSentToForbiddenHost as error:
        raise ContentRejected(f"The thumbnail is not fetched from there: {error}") from error
    except ResponseTooLarge as error:
        raise ContentRejected(f"The thumbnail is larger than {MAX_THUMBNAIL_BYTES:,} bytes.") from error
    except OutboundError as error:
        raise Transient(gettext_noop("The thumbnail's address could not be reached.")) from error
    if response.status >= 500 or response.status == 429:
        raise Transient(f"The thumbnail's address answered {response.status}.")
    image = file.getvalue()
    mime_type = next((mime_type for start, mime_type in THUMBNAIL_TYPES.items() if image.startswith(start)), "")
    if response.status != 200 or not mime_type:
        raise ContentRejected(f"There is no JPEG or PNG file at the thumbnail's address: it answered {response.status}.")
    return image, mime_type


def upload_thumbnail_from_url(api: Api, video_id: str, url: str) -> None:
    """Download the image at a URL, and upload the image to YouTube as a video's thumbnail.

    Raises the same errors as `fetch_thumbnail_and_mime_type` and `open_session_and_return_url`.
    """
    image, mime_type = fetch_thumbnail_and_mime_type(url)
    api.send_to_url(
        "POST",
        f"{api.address}/upload/youtube/v3/thumbnails/set",
        params={"videoId": video_id, "uploadType": "media"},
        headers={"Content-Type": mime_type},
        data=image,
        timeout=60.0,
    )
