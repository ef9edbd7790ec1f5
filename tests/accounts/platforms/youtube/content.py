"""Posts for YouTube, and error responses of Google."""

from __future__ import annotations

from typing import Any

from accounts.platforms.types import Content, MediaFile
from tests.accounts.platforms.media_files import MP4, media_file
from tests.fakes.http_server import Answer

MIB = 1024 * 1024


def video(mebibytes: int = 0) -> MediaFile:
    """A video of this size and a little more, in which no two mebibytes are the same."""
    content = b"".join(bytes([number % 251]) * MIB for number in range(mebibytes)) + MP4
    return media_file(content, "video/mp4")


def post(text: str = "Hello", file: MediaFile | None = None, **options: Any) -> Content:
    """A post with one video."""
    return Content("tgt_1", text, options, media=(file or video(),))


def google_error(status: int, reason: str, message: str = "no") -> Answer:
    """An error response of the API."""
    error = {"code": status, "message": message, "errors": [{"reason": reason, "message": message}]}
    return Answer.of_json({"error": error}, status)
