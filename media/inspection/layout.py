"""Parsed structure of an image file, the same type for all image formats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Layout:
    """The structure of an image file: its stored size in pixels, its number of frames, its EXIF block, and its end offset.

    A still image has one frame; `exif` is empty if there is no EXIF block. `working_bytes` is the memory that `decode` needs;
    `decode` raises any error of the decoder for a broken image.
    """

    width: int
    height: int
    frames: int
    end: int
    exif: bytes
    working_bytes: int
    decode: Callable[[], None] = field(repr=False)
