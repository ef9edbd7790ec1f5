"""The size limits of upload request bodies."""

from __future__ import annotations

from django.conf import settings

FORM = "multipart/form-data"
MAX_BASE64_FILE_BYTES = 20 * 1024 * 1024
BESIDE_THE_FILE_BYTES = 1_000_000  # allowance for the other fields of a form or JSON body


def most_bytes(content_type: str) -> int:
    """Return the maximum body size of an upload with this content type."""
    if content_type == FORM:
        return max(settings.MEDIA_MAX_BYTES.values()) + BESIDE_THE_FILE_BYTES
    return 4 * -(-MAX_BASE64_FILE_BYTES // 3) + BESIDE_THE_FILE_BYTES
