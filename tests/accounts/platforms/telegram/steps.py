"""The two steps of publishing to Telegram, and media to publish."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

from PIL import Image

from accounts.platforms.base import START
from accounts.platforms.telegram.adapter import Telegram
from accounts.platforms.types import Content, Grant, MediaFile, Progress, Published

MP4 = b"\x00\x00\x00\x18ftypmp42" + bytes(200)
PDF = b"%PDF-1.7\n" + bytes(200)
GIF = b"GIF89a" + bytes(200)


def start(telegram: Telegram, grant: Grant, text: str, *media: MediaFile, **options: Any) -> Progress:
    """Take the first step of publishing to Telegram, which sends nothing."""
    progress = telegram.publish_step(grant, Content("tgt_1", text, options, media=media), START)
    assert isinstance(progress, Progress)
    return progress


def send(telegram: Telegram, grant: Grant, progress: Progress, media: Sequence[MediaFile] = ()) -> Published:
    """Take the second step of publishing to Telegram, from the stored state."""
    stored = Progress.from_stored(progress.phase, json.loads(json.dumps(progress.to_stored())))
    content = Content("tgt_1", "ignored", {"parse_mode": "HTML"}, media=tuple(media))
    published = telegram.publish_step(grant, content, stored)
    assert isinstance(published, Published)
    return published


def publish(telegram: Telegram, grant: Grant, text: str, *media: MediaFile, **options: Any) -> Published:
    """Take both steps of publishing to Telegram."""
    return send(telegram, grant, start(telegram, grant, text, *media, **options), media)


def picture(width: int = 40, height: int = 30, filename: str = "picture") -> MediaFile:
    """A PNG file to publish to Telegram."""
    drawn = io.BytesIO()
    Image.new("RGB", (width, height), "navy").save(drawn, "PNG")
    return file("image", "image/png", drawn.getvalue(), filename)


def video(**fields: Any) -> MediaFile:
    return file("video", "video/mp4", MP4, "film.mov", **fields)


def document(filename: str) -> MediaFile:
    return file("document", "application/pdf", PDF + filename.encode(), filename)


def file(kind: Any, mime_type: str, content: bytes, filename: str, **fields: Any) -> MediaFile:
    return MediaFile(
        kind=kind, mime_type=mime_type, size_bytes=len(content), filename=filename, open=lambda: io.BytesIO(content), **fields
    )
