"""The dataclasses of media inspection: the parsed structure of an image file, and the result for an uploaded file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from accounts.platforms.types import MediaKind


@dataclass(frozen=True)
class InspectedFile:
    """The result of inspecting an uploaded file; width and height are in pixels as displayed, that is, after rotation.

    The rotation is that of EXIF or of the video track. `kind` is "gif" for an animated GIF; a GIF with one frame, an animated
    WebP and an animated PNG are images. `duration_ms` is None for a video that does not state its duration, and for all other
    files.
    """

    kind: MediaKind
    mime_type: str
    width: int | None = None
    height: int | None = None
    duration_ms: int | None = None


@dataclass(frozen=True)
class ImageLayout:
    """The parsed structure of an image file: stored size in pixels, number of frames, EXIF block, and end offset.

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
