"""Inspection of uploaded media files: detects and checks the file type from the bytes, and removes geolocation metadata.

File names and declared content types are ignored.
"""

from __future__ import annotations

from pathlib import Path

from media.inspection.image_geolocation import remove_geolocation_from_image
from media.inspection.images import inspect_image
from media.inspection.pdf import inspect_pdf
from media.inspection.sniffing import detect_mime_type
from media.inspection.types import InspectedFile
from media.inspection.video import inspect_video
from media.inspection.video_geolocation import overwrite_geolocation_in_video

__all__ = ["InspectedFile", "detect_mime_type", "inspect_file", "remove_geolocation"]


def inspect_file(path: Path) -> InspectedFile:
    """Detect the type of an uploaded media file from its bytes, and check the file by the rules for that type.

    Raises MediaTypeNotAllowed with a message about the problem. Images are decoded; videos and documents are only parsed.
    Takes at most some seconds and 300 MB of memory.
    """
    mime_type = detect_mime_type(path)
    if mime_type == "application/pdf":
        return inspect_pdf(path)
    return inspect_image(path, mime_type) if mime_type.startswith("image/") else inspect_video(path, mime_type)


def remove_geolocation(path: Path, mime_type: str) -> bool:
    """Remove geolocation metadata from an inspected image or video file; returns whether the file changed.

    A JPEG or WebP image with geolocation loses all its EXIF, XMP and IPTC metadata except the orientation. Colour profiles
    are preserved. Pixels and video samples are not encoded again. In a video, the metadata are overwritten in place, so that
    its length and offsets do not change.
    """
    if mime_type == "application/pdf":
        return False
    return (
        remove_geolocation_from_image(path, mime_type)
        if mime_type.startswith("image/")
        else overwrite_geolocation_in_video(path, mime_type)
    )
