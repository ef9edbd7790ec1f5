"""Media types that can be uploaded: the file suffix and the maximum size (settings.MEDIA_MAX_BYTES) of each."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from django.conf import settings

from media.errors import MediaTypeNotAllowed
from media.inspection import sniff

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


def max_upload_bytes(beginning: Path | None = None) -> int:
    """The maximum upload size, for the type detected in the file's `beginning`, or for any type if none is detected."""
    if beginning is not None:
        with suppress(MediaTypeNotAllowed):
            return max_bytes_of_type(sniff(beginning))
    return max(settings.MEDIA_MAX_BYTES.values())


def max_bytes_of_type(mime_type: str) -> int:
    """The maximum upload size for files of this MIME type."""
    kind = mime_type.partition("/")[0]
    limit: int = settings.MEDIA_MAX_BYTES[kind if kind in ("image", "video") else "document"]
    return limit
