"""What an inspection finds out."""

from __future__ import annotations

from dataclasses import dataclass

from accounts.platforms.types import MediaKind


@dataclass(frozen=True)
class Inspected:
    """A file that passed: sides in pixels as shown (a photo's orientation and a track's rotation applied).

    `kind` "gif" is an animated GIF; a GIF of one frame, an animated WebP and an animated PNG are images.
    `duration_ms` is that of a video; None where the file does not say it, and for all that is no video.
    """

    kind: MediaKind
    mime_type: str
    width: int | None = None
    height: int | None = None
    duration_ms: int | None = None
