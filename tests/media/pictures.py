"""Pictures in memory, made for a test."""

from __future__ import annotations

import io
from typing import Any

from PIL import Image

GPS = 0x8825  # the part of Exif that says where
NORTH, EAST = ("N", (52.0, 31.0, 12.0)), ("E", (13.0, 24.0, 18.0))


def jpeg(width: int = 64, height: int = 48, *, colour: str = "teal", position: bool = False) -> bytes:
    """A JPEG of one colour; with `position`, as a telephone makes it that knows where it is."""
    exif = Image.Exif()
    exif[0x010F] = "Workshop camera"
    if position:
        exif[GPS] = {1: NORTH[0], 2: NORTH[1], 3: EAST[0], 4: EAST[1]}
    return _saved("JPEG", width, height, colour, exif=exif)


def png(width: int = 64, height: int = 48, *, colour: str = "teal") -> bytes:
    """A PNG of one colour."""
    return _saved("PNG", width, height, colour)


def gif() -> bytes:
    """A GIF of two frames."""
    second = Image.new("RGB", (64, 48), "orange")
    return _saved("GIF", 64, 48, "teal", save_all=True, append_images=[second], duration=100)


def large_jpeg(size: int) -> bytes:
    """What begins as a JPEG does, and goes on to this size."""
    return jpeg() + bytes(size - len(jpeg()))


def position_of(picture: bytes) -> dict[int, Any]:
    """What the picture says of where it was taken."""
    with Image.open(io.BytesIO(picture)) as opened:
        return dict(opened.getexif().get_ifd(GPS))


def _saved(form: str, width: int, height: int, colour: str, **options: Any) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(file, form, **options)
    return file.getvalue()
