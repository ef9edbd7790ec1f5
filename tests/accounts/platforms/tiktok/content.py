"""Posts for TikTok, and responses of its API."""

from __future__ import annotations

from typing import Any

from accounts.platforms.types import Content, MediaFile
from tests.accounts.platforms.media_files import MP4, media_file, picture
from tests.accounts.platforms.tiktok.world import PREFIX
from tests.fakes.http_server import Answer


def video(megabytes: int = 0, **details: Any) -> MediaFile:
    """A video of this size and a little more, in which no two megabytes are the same."""
    content = b"".join(bytes([number % 251]) * 1_000_000 for number in range(megabytes)) + MP4
    return media_file(content, "video/mp4", **details)


def photo(name: str) -> MediaFile:
    """A photo with a public URL."""
    return media_file(picture(form="JPEG"), "image/jpeg", url=f"{PREFIX}{name}.jpg?form=direct")


def post(text: str = "Hello", *media: MediaFile, **options: Any) -> Content:
    """A public post, by default with a short video."""
    return Content("tgt_1", text, {"privacy_level": "PUBLIC_TO_EVERYONE", **options}, media=media or (video(),))


def refused(status: int, code: str, message: str = "no") -> Answer:
    """An error response of the API."""
    return Answer.of_json({"data": {}, "error": {"code": code, "message": message, "log_id": "1"}}, status)


def data(**fields: object) -> Answer:
    """A success of the API."""
    return Answer.of_json({"data": fields, "error": {"code": "ok"}})
