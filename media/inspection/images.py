"""Inspection of uploaded images: parses the structure, checks the limits, and decodes the pixels."""

from __future__ import annotations

import io
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.utils.translation import gettext_noop
from PIL import Image

from accounts.platforms.types import MediaKind
from media.errors import MediaTypeNotAllowed
from media.inspection.bounds import MAX_WORKING_BYTES, broken_file_error
from media.inspection.gif import parse_gif_layout
from media.inspection.image_metadata import exif_orientation
from media.inspection.jpeg import parse_jpeg_size_exif_and_end
from media.inspection.png import parse_png_layout
from media.inspection.polyglots import refuse_polyglot_image
from media.inspection.types import ImageLayout, InspectedFile
from media.inspection.webp import parse_webp_layout

_READERS: dict[str, Callable[[bytes], ImageLayout]] = {
    "image/jpeg": parse_jpeg_size_exif_and_end,
    "image/png": parse_png_layout,
    "image/webp": parse_webp_layout,
    "image/gif": parse_gif_layout,
}
# Limits simultaneous decodes in a process, since each may use MAX_WORKING_BYTES.
decode_semaphore = threading.BoundedSemaphore(2)


def inspect_image(path: Path, mime_type: str) -> InspectedFile:
    """Check an uploaded image of the given MIME type; raises MediaTypeNotAllowed if a check fails."""
    content = path.read_bytes()
    layout = parse_image_layout(content, mime_type)
    refuse_polyglot_image(content, layout.end)
    if layout.working_bytes <= MAX_WORKING_BYTES:
        with decode_semaphore:
            try:
                layout.decode()
            except MediaTypeNotAllowed:
                raise
            except Exception as error:  # decoders raise anything from SyntaxError to EOFError
                raise broken_file_error("image") from error
    width, height = layout.width, layout.height
    if exif_orientation(layout.exif) >= 5:  # rotated by 90 degrees
        width, height = height, width
    kind: MediaKind = "gif" if mime_type == "image/gif" and layout.frames > 1 else "image"
    return InspectedFile(kind, mime_type, width, height)


@contextmanager
def open_still_image(content: bytes, mime_type: str) -> Iterator[tuple[Image.Image, int]]:
    """Return a context manager that opens an inspected image to make a new one from it, and yields its EXIF orientation too.

    Raises MediaTypeNotAllowed for an animation, and for an image whose pixels would need more than half of MAX_WORKING_BYTES,
    since they and a copy are in memory.
    """
    layout = parse_image_layout(content, mime_type)
    if layout.frames > 1:
        raise MediaTypeNotAllowed(gettext_noop("An animation cannot be changed here."))
    if 2 * layout.working_bytes > MAX_WORKING_BYTES:
        raise MediaTypeNotAllowed(gettext_noop("The image is too large to be changed here."))
    name = mime_type.removeprefix("image/").upper()
    with decode_semaphore, Image.open(io.BytesIO(content[: layout.end]), formats=[name]) as image:
        yield image, exif_orientation(layout.exif)


def parse_image_layout(content: bytes, mime_type: str) -> ImageLayout:
    """Return the parsed structure of an uploaded image of the given MIME type; raises MediaTypeNotAllowed."""
    try:
        return _READERS[mime_type](content)
    except (struct.error, IndexError) as error:
        raise broken_file_error("image") from error
