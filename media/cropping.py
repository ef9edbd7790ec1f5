"""Crops images to a ratio of width to height; metadata are not copied, except the colour profile."""

from __future__ import annotations

import io
from fractions import Fraction
from typing import Literal, get_args

from media.inspection.images import open_still_image
from media.thumbnail_rendering import ROTATIONS_BY_ORIENTATION, convert_to_srgb

CropPosition = Literal["start", "middle", "end"]  # which part remains: the left or top, the middle, the right or bottom
CROP_POSITIONS: tuple[CropPosition, ...] = get_args(CropPosition)
MIN_RATIO, MAX_RATIO = 0.01, 100.0
QUALITY = 92
# EXIF orientations in which the displayed image is mirrored along its width or height, seen from the stored pixels.
_MIRRORED_WIDTH, _MIRRORED_HEIGHT = (2, 3, 6, 7), (3, 4, 7, 8)
_SWAPS_SIDES = (5, 6, 7, 8)


def format_ratio(ratio: float) -> str:
    """Format the ratio of a crop, width to height, as people write it, such as 4:5 or 1.91:1."""
    exact = Fraction(f"{ratio:.4g}")
    simple = exact.numerator <= 20 and exact.denominator <= 20
    return f"{exact.numerator}:{exact.denominator}" if simple else f"{ratio:.3g}:1"


def crop_to_ratio(content: bytes, mime_type: str, ratio: float, position: CropPosition) -> bytes:
    """Return the image in `content` cropped to a ratio, as an encoded file of the same type (PNG for a GIF).

    Only the longer side is cut, to a ratio that is not beyond the given one. Raises MediaTypeNotAllowed for an animation, and
    for an image that is too large to be decoded here.
    """
    name = mime_type.removeprefix("image/").upper()
    with open_still_image(content, mime_type) as (image, orientation):
        profile = image.info.get("icc_profile")
        cropped = image.crop(_box(image.size, ratio, position, orientation))
        if cropped.mode == "CMYK":
            cropped, profile = convert_to_srgb(cropped, profile), None
        turn = ROTATIONS_BY_ORIENTATION.get(orientation)
        file = io.BytesIO()
        (cropped if turn is None else cropped.transpose(turn)).save(
            file, "PNG" if name == "GIF" else name, quality=QUALITY, icc_profile=profile, exif=b""
        )
    return file.getvalue()


def _box(size: tuple[int, int], ratio: float, position: CropPosition, orientation: int) -> tuple[int, int, int, int]:
    """Return the part of an image's stored pixels that remains after cropping: left, top, right and bottom."""
    swapped = orientation in _SWAPS_SIDES
    width, height = reversed(size) if swapped else size
    too_wide = width > height * ratio
    whole, part = (width, max(1, int(height * ratio))) if too_wide else (height, max(1, min(height, int(width / ratio))))
    mirrored = orientation in (_MIRRORED_WIDTH if too_wide else _MIRRORED_HEIGHT)
    share = CROP_POSITIONS.index(position) / 2
    begin = round((whole - part) * (1 - share if mirrored else share))
    if too_wide is not swapped:  # the stored width is cut
        return begin, 0, begin + part, size[1]
    return 0, begin, size[0], begin + part
