"""How much one file may ask for before it is refused: pixels, frames, memory, time."""

from __future__ import annotations

import math
import time

from django.conf import settings

from media.errors import MediaTypeNotAllowed

MAX_FRAMES = 1_000
MAX_SIDE = 65_535  # what a JPEG can have; a row of more takes much memory before a pixel is seen
# Of the canvas times the frames: what a player has to draw. X takes 300 million, others more.
ANIMATION_PIXELS = 1_000_000_000
# So many pixels of an animation are decoded, two seconds of work at most; of later frames only the structure is read.
DECODED_PIXELS = 100_000_000
# What a decoder may hold at once. An image that needs more passes by its structure.
WORKING_BYTES = 256 * 1024 * 1024
SECONDS = 5.0


class Deadline:
    """The processor time that one file gets of this thread, so that a busy machine refuses no file for it.

    `check` is called wherever a file can make us loop.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self.at = time.thread_time() + seconds

    def check(self) -> None:
        if time.thread_time() > self.at:
            raise MediaTypeNotAllowed("The file takes too long to read.")


def broken(what: str) -> MediaTypeNotAllowed:
    return MediaTypeNotAllowed(f"The {what} is broken.")


def cut_off(what: str) -> MediaTypeNotAllowed:
    return MediaTypeNotAllowed(f"The {what} is cut off.")


def check_pixels(width: int, height: int) -> None:
    """Refuse an image without pixels, and one with more than MEDIA_MAX_PIXELS."""
    if not width or not height:
        raise MediaTypeNotAllowed("The image has no pixels.")
    if width * height > settings.MEDIA_MAX_PIXELS:
        raise MediaTypeNotAllowed(
            f"The image has {_megapixels(width * height)} megapixels;"
            f" {_megapixels(settings.MEDIA_MAX_PIXELS)} are taken."
        )
    if max(width, height) > MAX_SIDE:
        raise MediaTypeNotAllowed(f"The image has a side of {max(width, height):,} pixels; {MAX_SIDE:,} are taken.")


def check_animation(width: int, height: int, frames: int) -> None:
    """Refuse an animation of too many frames, or of too many pixels over all of them."""
    if frames > MAX_FRAMES:
        raise MediaTypeNotAllowed(f"The animation has more than {MAX_FRAMES:,} frames.")
    if frames > 1 and width * height * frames > ANIMATION_PIXELS:
        raise MediaTypeNotAllowed(
            f"The animation has {_megapixels(width * height * frames)} megapixels over all its frames;"
            f" {_megapixels(ANIMATION_PIXELS)} are taken."
        )


def _megapixels(pixels: int) -> str:
    """Rounded up, so that one pixel too many does not read like none too many."""
    return f"{math.ceil(pixels / 100_000) / 10:,.1f}".removesuffix(".0")
