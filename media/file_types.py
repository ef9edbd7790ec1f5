"""The file types of media that can be uploaded: the suffix and the maximum size (settings.MEDIA_MAX_BYTES) of each."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from django.conf import settings

from media.errors import MediaTypeNotAllowed
from media.inspection import detect_mime_type

SUFFIXES = {
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/webp": ".webp",
    "image/gif": ".gif",
    "video/mp4": ".mp4",
    "video/quicktime": ".mov",
    "video/webm": ".webm",
    "application/pdf": ".pdf",
}


def max_upload_bytes_by_first_bytes(beginning: Path | None = None) -> int:
    """Return the maximum size in bytes of an upload, by the file type that its first bytes (`beginning`) show.

    If the type is unknown, this is the largest maximum of all types.
    """
    if beginning is not None:
        with suppress(MediaTypeNotAllowed):
            return max_bytes_of_type(detect_mime_type(beginning))
    return max(settings.MEDIA_MAX_BYTES.values())


def max_bytes_of_type(mime_type: str) -> int:
    """Return the maximum size in bytes of an uploaded media file of this MIME type."""
    kind = mime_type.partition("/")[0]
    limit: int = settings.MEDIA_MAX_BYTES[kind if kind in ("image", "video") else "document"]
    return limit
