"""Media files in memory, as an adapter receives them with a post."""

from __future__ import annotations

import io
from typing import Any

from PIL import Image

from accounts.platforms.types import MediaFile

MP4 = b"\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isommp41" + bytes(range(256)) * 8
PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"


def picture(width: int = 4, height: int = 3, *, form: str = "PNG", colour: str = "teal") -> bytes:
    """A picture of one colour, as a file of this format (PNG, JPEG, GIF, WEBP)."""
    file = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(file, form)
    return file.getvalue()


def media_file(content: bytes, mime_type: str = "image/png", **fields: Any) -> MediaFile:
    """A media file with these bytes; its kind follows from the type unless `fields` says otherwise."""
    kind = {"image": "image", "video": "video"}.get(mime_type.partition("/")[0], "document")
    fields = {"kind": kind, "filename": f"file.{mime_type.partition('/')[2]}", **fields}
    return MediaFile(mime_type=mime_type, size_bytes=len(content), open=lambda: io.BytesIO(content), **fields)
