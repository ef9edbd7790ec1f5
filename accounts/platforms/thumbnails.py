"""Thumbnails of untrusted pictures: a small JPEG for the card of a web page, and a square WebP for an avatar.

The type is detected by the first bytes, as for uploads, and the dimensions are read before anything is decoded: a file of
some kilobytes may claim a picture of gigabytes. No metadata of the picture goes into the thumbnail.
"""

from __future__ import annotations

import io
import threading

from PIL import Image, ImageOps

LONGEST_SIDE = 1200
QUALITIES = (85, 70, 50)
AVATAR_SIDE, MAX_AVATAR_BYTES = 96, 10_000
# A decoder holds up to 16 bytes for each pixel (WebP: two canvases, the frame and a copy of it): 256 MB.
MAX_PIXELS = 16_777_216
FORMATS = ("JPEG", "PNG", "GIF", "WEBP")
_decodes = threading.BoundedSemaphore(2)  # the threads of a process wait for each other


def jpeg_thumbnail_or_none(content: bytes, *, max_bytes: int, longest_side: int = LONGEST_SIDE) -> bytes | None:
    """Return a JPEG thumbnail of a web page's picture, of at most `max_bytes`, rotated by its EXIF data; without animation.

    None for a file of another type, a broken picture, one with too many pixels, or a thumbnail that stays too large.
    """
    try:
        with _decodes, Image.open(io.BytesIO(content), formats=FORMATS) as image:
            if image.width * image.height > MAX_PIXELS:
                return None
            image.thumbnail((longest_side, longest_side))
            return _encoded(_opaque(ImageOps.exif_transpose(image)), "JPEG", max_bytes)
    except Exception:  # decoders raise anything from SyntaxError to EOFError; the card is published without a picture
        return None


def square_webp_or_none(content: bytes) -> bytes | None:
    """Return a square WebP thumbnail of the middle of a profile picture, within AVATAR_SIDE and MAX_AVATAR_BYTES.

    None as for `jpeg_thumbnail_or_none`.
    """
    try:
        with _decodes, Image.open(io.BytesIO(content), formats=FORMATS) as opened:
            if opened.width * opened.height > MAX_PIXELS:
                return None
            # The pixels of a palette cannot be mixed.
            image = opened.convert("RGBA") if opened.mode in ("P", "1") else opened
            shortest = min(image.size)
            side = min(AVATAR_SIDE, shortest)
            image.thumbnail((max(image.size) * side / shortest,) * 2)
            square = ImageOps.fit(_opaque(ImageOps.exif_transpose(image)), (side, side))
            return _encoded(square, "WEBP", MAX_AVATAR_BYTES)
    except Exception:  # as above; the account is shown by its initials
        return None


def _opaque(image: Image.Image) -> Image.Image:
    """Return the picture for a thumbnail in RGB, with white in place of transparent pixels."""
    if image.mode == "I;16":  # Pillow would cut off its values at 255
        image = image.point(lambda value: value / 256).convert("L")
    if not image.has_transparency_data:
        return image.convert("RGB")
    over = image.convert("RGBA")
    white = Image.new("RGBA", over.size, "white")
    return Image.alpha_composite(white, over).convert("RGB")


def _encoded(image: Image.Image, file_format: str, max_bytes: int) -> bytes | None:
    for quality in QUALITIES:
        file = io.BytesIO()
        image.save(file, file_format, quality=quality, optimize=True)
        if file.tell() <= max_bytes:
            return file.getvalue()
    return None
