"""Files that Instagram can fetch."""

from __future__ import annotations

from accounts.platforms.types import MediaFile
from tests.accounts.platforms.media_files import MP4, media_file, picture
from tests.fakes.instagram import FakeInstagram


def image(server: FakeInstagram, colour: str = "teal", alt_text: str = "") -> MediaFile:
    """A picture that Instagram can fetch."""
    content = picture(form="JPEG", colour=colour)
    return media_file(content, "image/jpeg", url=server.serve(content), alt_text=alt_text)


def video(server: FakeInstagram, duration_ms: int = 10_000) -> MediaFile:
    """A video that Instagram can fetch."""
    return media_file(MP4, "video/mp4", url=server.serve(MP4), duration_ms=duration_ms)
