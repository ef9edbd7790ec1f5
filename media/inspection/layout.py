"""What the structure of an image file says, whatever its format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Layout:
    """The stored sides in pixels, the frames (1: a still image), the EXIF block if there is one, and where it ends.

    `working_bytes` is what `decode` holds at once; `decode` raises whatever the decoder raises for a broken image.
    """

    width: int
    height: int
    frames: int
    end: int
    exif: bytes
    working_bytes: int
    decode: Callable[[], None] = field(repr=False)
