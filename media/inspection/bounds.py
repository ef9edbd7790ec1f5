"""Bounds on the pixels, frames, parts, memory and processor time that the inspection of an uploaded file may need."""

from __future__ import annotations

import math
import os
import time
import zlib
from pathlib import Path
from typing import BinaryIO, Self

from django.conf import settings
from django.utils.translation import gettext_noop

from media.errors import MediaTypeNotAllowed

MAX_FRAMES = 1_000
MAX_SIDE = 65_535  # the maximum of JPEG; a decoder allocates much memory for a longer row before it reads a pixel
# Pixels of the canvas times the number of frames, which a player has to draw. X allows 300 million, others more.
MAX_ANIMATION_PIXELS = 1_000_000_000
# Pixels of an animation that are decoded, in at most two seconds; later frames are only parsed.
MAX_DECODED_PIXELS = 100_000_000
# Memory that a decoder may use. An image that needs more is accepted without decoding, if its structure is valid.
MAX_WORKING_BYTES = 256 * 1024 * 1024
MAX_INSPECTION_SECONDS = 5.0
_CHECK_EVERY = 1024  # parts of a video file


class CpuTimeLimit:
    """A bound on the processor time for the inspection of an uploaded file.

    Time in which a busy machine makes the inspection wait does not count. `check` is called in every loop whose length
    depends on the file.
    """

    def __init__(self) -> None:
        self.at = time.thread_time() + MAX_INSPECTION_SECONDS

    def raise_if_exceeded(self) -> None:
        if time.thread_time() > self.at:
            raise MediaTypeNotAllowed(gettext_noop("The file takes too long to read."))


def broken_file_error(what: str) -> MediaTypeNotAllowed:
    return MediaTypeNotAllowed(f"The {what} is broken.")


def truncated_file_error(what: str) -> MediaTypeNotAllowed:
    return MediaTypeNotAllowed(f"The {what} is cut off.")


def check_pixel_limits(width: int, height: int) -> None:
    """Check an uploaded image's size: refuse one with no pixels, more than MEDIA_MAX_PIXELS, or too long a side."""
    if not width or not height:
        raise MediaTypeNotAllowed(gettext_noop("The image has no pixels."))
    if width * height > settings.MEDIA_MAX_PIXELS:
        raise MediaTypeNotAllowed(
            f"The image has {_megapixels(width * height)} megapixels; {_megapixels(settings.MEDIA_MAX_PIXELS)} are taken."
        )
    if max(width, height) > MAX_SIDE:
        raise MediaTypeNotAllowed(f"The image has a side of {max(width, height):,} pixels; {MAX_SIDE:,} are taken.")


def check_animation_limits(width: int, height: int, frames: int) -> None:
    """Check an uploaded animation against the bounds: refuse too many frames, or too many pixels in all of them."""
    if frames > MAX_FRAMES:
        raise MediaTypeNotAllowed(f"The animation has more than {MAX_FRAMES:,} frames.")
    if frames > 1 and width * height * frames > MAX_ANIMATION_PIXELS:
        raise MediaTypeNotAllowed(
            f"The animation has {_megapixels(width * height * frames)} megapixels over all its frames;"
            f" {_megapixels(MAX_ANIMATION_PIXELS)} are taken."
        )


def _megapixels(pixels: int) -> str:
    """Format pixels for messages about the bounds, as megapixels, rounded up so that one too many looks above the limit."""
    return f"{math.ceil(pixels / 100_000) / 10:,.1f}".removesuffix(".0")


def decompress_first_bytes(packed: bytes, max_bytes: int, *, wbits: int = zlib.MAX_WBITS) -> bytes:
    """Decompress zlib data within bounds: return the first `max_bytes` (gzip if `wbits` is 31); no bytes if invalid."""
    try:
        return zlib.decompressobj(wbits).decompress(packed, max_bytes)
    except zlib.error:
        return b""


class PartAndTimeLimitedVideoFile:
    """A video file that is being inspected, with limits on the number of its parts and on the time to read them.

    Methods raise MediaTypeNotAllowed if the file is incomplete or broken.
    """

    MAX_PARTS: int
    PARTS_NAME: str  # the format's name for its parts, used in error messages

    def __init__(self, path: Path) -> None:
        self.file: BinaryIO = path.open("rb")
        self.size = os.fstat(self.file.fileno()).st_size
        self.deadline = CpuTimeLimit()
        self._parts_read = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.file.close()

    def read(self, start: int, length: int) -> bytes:
        """Read exactly `length` bytes of an inspected video file from the offset `start`."""
        self.file.seek(start)
        content = self.file.read(length)
        if len(content) != length:
            raise truncated_file_error("video")
        return content

    def count_element_against_limit(self) -> None:
        """Count one more part (box or element) of an inspected video file; raises MediaTypeNotAllowed if there are too many.

        Also checks the deadline.
        """
        self._parts_read += 1
        if self._parts_read > self.MAX_PARTS:
            raise MediaTypeNotAllowed(f"The video has more than {self.MAX_PARTS:,} {self.PARTS_NAME}.")
        if self._parts_read % _CHECK_EVERY == 0:
            self.deadline.raise_if_exceeded()
