"""Small in-memory pictures for tests."""

from __future__ import annotations

import io
import random
from typing import Any

from PIL import Image

GPS = 0x8825  # the part of Exif that says where
NORTH, EAST = ("N", (52.0, 31.0, 12.0)), ("E", (13.0, 24.0, 18.0))


def jpeg(width: int = 64, height: int = 48, *, colour: str = "teal", position: bool = False) -> bytes:
    """A one-colour JPEG; with `position`, it has the EXIF location of a phone camera."""
    exif = Image.Exif()
    exif[0x010F] = "Workshop camera"
    if position:
        exif[GPS] = {1: NORTH[0], 2: NORTH[1], 3: EAST[0], 4: EAST[1]}
    return _saved("JPEG", width, height, colour, exif=exif)


def png(width: int = 64, height: int = 48, *, colour: str = "teal") -> bytes:
    """A one-colour PNG."""
    return _saved("PNG", width, height, colour)


def noise(width: int, height: int) -> bytes:
    """A PNG of random colours, which can hardly be compressed; always the same."""
    file = io.BytesIO()
    Image.frombytes("RGB", (width, height), random.Random(1).randbytes(3 * width * height)).save(file, "PNG")
    return file.getvalue()


def gif() -> bytes:
    """A GIF of two frames."""
    second = Image.new("RGB", (64, 48), "orange")
    return _saved("GIF", 64, 48, "teal", save_all=True, append_images=[second], duration=100)


def large_jpeg(size: int) -> bytes:
    """Data of this size that start like a JPEG."""
    return jpeg() + bytes(size - len(jpeg()))


def position_of(picture: bytes) -> dict[int, Any]:
    """The location in the picture's metadata."""
    with Image.open(io.BytesIO(picture)) as opened:
        return dict(opened.getexif().get_ifd(GPS))


def _saved(form: str, width: int, height: int, colour: str, **options: Any) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(file, form, **options)
    return file.getvalue()
