"""Result type of the inspection of an uploaded media file."""

from __future__ import annotations

from dataclasses import dataclass

from accounts.platforms.types import MediaKind


@dataclass(frozen=True)
class Inspected:
    """An uploaded file that passed inspection. Sides are in pixels as displayed, after EXIF orientation or track rotation.

    `kind` is "gif" for an animated GIF; a GIF with one frame, an animated WebP and an animated PNG are images. `duration_ms`
    is None for a video that does not state its duration, and for all other files.
    """

    kind: MediaKind
    mime_type: str
    width: int | None = None
    height: int | None = None
    duration_ms: int | None = None
