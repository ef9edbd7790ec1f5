"""The thumbnail that a post names by its address. Source: developers.google.com/youtube/v3, thumbnails.set.

It is fetched twice: before the upload, so that a wrong address is told while nothing is out, and after it.
"""

from __future__ import annotations

import io

from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.youtube.capabilities import MAX_THUMBNAIL_BYTES
from accounts.platforms.youtube.client import Api
from config.outbound import DestinationRefused, OutboundError, ResponseTooLarge, download

FORMS = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG\r\n\x1a\n": "image/png"}  # by what such files begin with


def fetch(url: str) -> tuple[bytes, str]:
    """The file and its type. Raises ContentRejected, Transient."""
    file = io.BytesIO()
    try:
        answer = download(url, file, max_bytes=MAX_THUMBNAIL_BYTES)
    except DestinationRefused as error:
        raise ContentRejected(f"The thumbnail is not fetched from there: {error}") from error
    except ResponseTooLarge as error:
        raise ContentRejected(f"The thumbnail is larger than {MAX_THUMBNAIL_BYTES:,} bytes.") from error
    except OutboundError as error:
        raise Transient("The thumbnail's address could not be reached.") from error
    if answer.status >= 500 or answer.status == 429:
        raise Transient(f"The thumbnail's address answered {answer.status}.")
    content = file.getvalue()
    form = next((form for beginning, form in FORMS.items() if content.startswith(beginning)), None)
    if answer.status != 200 or form is None:
        raise ContentRejected(f"There is no JPEG or PNG file at the thumbnail's address: it answered {answer.status}.")
    return content, form


def set_thumbnail(api: Api, video_id: str, url: str) -> None:
    """Make the file at this address the video's thumbnail. Raises as `fetch`, YouTubeError, NotSent, NoAnswer."""
    content, form = fetch(url)
    api.call(
        "POST",
        f"{api.address}/upload/youtube/v3/thumbnails/set",
        params={"videoId": video_id, "uploadType": "media"},
        headers={"Content-Type": form},
        data=content,
        timeout=60.0,
    )
