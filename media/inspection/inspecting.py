"""The two things done with an upload: saying what it is, and taking the position out of it."""

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
    """Check the whole file; raises MediaTypeNotAllowed with a message that says what is wrong with it.

    Images are decoded, of videos and documents the structure is read. Takes seconds at most, and 300 MB of memory.
    """
    mime_type = sniff(path)
    return _INSPECTORS[mime_type](path, mime_type)


def remove_position(path: Path, inspected: Inspected) -> bool:
    """Rewrite the file without its position metadata, if it has some; returns whether it did.

    Pixels and samples are not encoded again. An image is replaced by a new file at once and keeps its orientation and
    colour profile; in a video the places are overwritten, so that its length and its offsets stay. A file without
    position metadata is left as it is.
    """
    remove = _POSITION_REMOVERS.get(inspected.mime_type)
    return remove is not None and remove(path, inspected.mime_type)
