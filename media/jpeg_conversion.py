"""Converts images to JPEG files that are small enough for a platform; metadata are not copied."""

from __future__ import annotations

import io
import math

from django.utils.translation import gettext_noop
from PIL import Image

from media.errors import MediaTypeNotAllowed
from media.inspection.images import open_still_image
from media.thumbnail_rendering import ROTATIONS_BY_ORIENTATION, colour_mode_of, convert_to_eight_bits, convert_to_srgb

QUALITIES = (92, 85, 75)  # tried in this order, before the image gets fewer pixels
MAX_REDUCTIONS = 6


def convert_to_jpeg(content: bytes, mime_type: str, *, max_bytes: int, max_size: tuple[int, int] | None = None) -> bytes:
    """Return the image in `content` as a JPEG file of at most `max_bytes`, not wider or higher than `max_size`.

    It is rotated by its EXIF orientation, and transparent parts become white. Raises MediaTypeNotAllowed for an animation,
    for an image that is too large to be decoded here, and for one that cannot be made small enough.
    """
    with open_still_image(content, mime_type) as (image, orientation):
        if max_size:  # a JPEG is decoded with fewer pixels, but not fewer than wanted
            image.draft(None, max_size[::-1] if orientation >= 5 else max_size)
        flat = _without_transparency(image)
        turn = ROTATIONS_BY_ORIENTATION.get(orientation)
        if turn is not None:
            flat = flat.transpose(turn)
        if max_size:
            flat.thumbnail(max_size, Image.Resampling.LANCZOS)
        return _encode_within(flat, max_bytes)


def _without_transparency(image: Image.Image) -> Image.Image:
    mode = colour_mode_of(image)
    profile, image = image.info.get("icc_profile"), convert_to_eight_bits(image)
    image = convert_to_srgb(image if image.mode == mode else image.convert(mode), profile)
    if image.mode == "RGB":
        return image
    ground = Image.new("RGB", image.size, "white")
    ground.paste(image, mask=image.getchannel("A"))
    return ground


def _encode_within(image: Image.Image, max_bytes: int) -> bytes:
    for quality in QUALITIES:
        file = _encode(image, quality)
        if len(file) <= max_bytes:
            return file
    for _ in range(MAX_REDUCTIONS):
        factor = min(0.9, 0.95 * math.sqrt(max_bytes / len(file)))
        size = max(1, int(image.width * factor)), max(1, int(image.height * factor))
        image = image.resize(size, Image.Resampling.LANCZOS)
        file = _encode(image, QUALITIES[-1])
        if len(file) <= max_bytes:
            return file
    raise MediaTypeNotAllowed(gettext_noop("The image cannot be made small enough."))


def _encode(image: Image.Image, quality: int) -> bytes:
    file = io.BytesIO()
    image.save(file, "JPEG", quality=quality, optimize=True)
    return file.getvalue()
