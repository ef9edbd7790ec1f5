"""Entry points of media inspection: check an uploaded file by its type, and remove its geolocation metadata."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from media.inspection.images import inspect_image
from media.inspection.inspected import Inspected
from media.inspection.pdf import inspect_pdf
from media.inspection.position_images import remove_from_image
from media.inspection.position_movie import remove_from_movie
from media.inspection.position_webm import remove_from_webm
from media.inspection.sniffing import sniff
from media.inspection.video import inspect_video

_INSPECTORS: dict[str, Callable[[Path, str], Inspected]] = {
    "image/jpeg": inspect_image,
    "image/png": inspect_image,
    "image/webp": inspect_image,
    "image/gif": inspect_image,
    "video/mp4": inspect_video,
    "video/quicktime": inspect_video,
    "video/webm": inspect_video,
    "application/pdf": inspect_pdf,
}
_POSITION_REMOVERS: dict[str, Callable[[Path, str], bool]] = {
    "image/jpeg": remove_from_image,
    "image/png": remove_from_image,
    "image/webp": remove_from_image,
    "image/gif": remove_from_image,
    "video/mp4": remove_from_movie,
    "video/quicktime": remove_from_movie,
    "video/webm": remove_from_webm,
}


def inspect(path: Path) -> Inspected:
    """Check a complete uploaded file by its detected type; raises MediaTypeNotAllowed with a message that states the problem.

    Images are decoded; videos and documents are only parsed. Takes at most some seconds and 300 MB of memory.
    """
    mime_type = sniff(path)
    return _INSPECTORS[mime_type](path, mime_type)


def remove_position(path: Path, inspected: Inspected) -> bool:
    """Remove the geolocation metadata from an inspected file; returns whether the file was changed.

    Pixels and video samples are not encoded again. An image is replaced atomically by a new file, which has the old
    orientation and colour profile. In a video, the metadata are overwritten in place, so that its length and offsets do not
    change. A file without geolocation metadata is not changed.
    """
    remove = _POSITION_REMOVERS.get(inspected.mime_type)
    return remove is not None and remove(path, inspected.mime_type)
