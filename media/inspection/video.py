"""Inspection of uploaded videos: parses MP4, MOV and WebM containers, but does not decode pictures or sound.

These checks need no other program, so every machine accepts the same files:

1. The first bytes are those of MP4, MOV or WebM (sniffing.py). The first kilobyte contains no HTML and no PDF, and the end
   of the file is not that of a ZIP archive (polyglots.py).
2. The file is complete. No box or element is larger than its parent. There are at most 250,000 boxes or 1,000,000
   elements, and reading them takes at most five seconds of processor time.
3. MP4 and MOV: there is a movie box, not compressed, and media data. There are at most 100 tracks. No track refers to
   another file, and no chunk of a video track begins after the end of the file.
4. WebM: there is one segment with at least one cluster, and the first kilobyte after it is empty or zeros.
5. There is a video track. In an MP4 or MOV file without fragments, its tables list samples.
6. The displayed width and height of the largest video track are 1 to 16,384 pixels.
7. The file states no duration, or one of at most a week.

With the setting FFPROBE, that program has to find a video stream too, unless it cannot read the file (ffmpeg.py).
"""

from __future__ import annotations

from pathlib import Path

from django.utils.translation import gettext_noop

from media.errors import MediaTypeNotAllowed
from media.inspection.ffmpeg import refuse_file_without_video_by_ffprobe
from media.inspection.movie import movie_dimensions_and_duration
from media.inspection.polyglots import SNIFFED_HEAD_BYTES, ZIP_TAIL_BYTES, refuse_polyglot_head_or_tail
from media.inspection.types import InspectedFile
from media.inspection.webm import webm_dimensions_and_duration

MAX_SIDE = 16_384
MAX_DURATION_MS = 7 * 24 * 3600 * 1000


def inspect_video(path: Path, mime_type: str) -> InspectedFile:
    """Check an uploaded video of the given MIME type; raises MediaTypeNotAllowed if a check fails."""
    with path.open("rb") as file:
        head = file.read(SNIFFED_HEAD_BYTES)
        file.seek(-min(ZIP_TAIL_BYTES, path.stat().st_size), 2)
        refuse_polyglot_head_or_tail(head, file.read())
    width, height, seconds = (
        webm_dimensions_and_duration(path) if mime_type == "video/webm" else movie_dimensions_and_duration(path)
    )
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        raise MediaTypeNotAllowed(f"The video says that it is {width} × {height} pixels large.")
    if not 0 <= seconds * 1000 <= MAX_DURATION_MS:  # also refuses nan
        raise MediaTypeNotAllowed(gettext_noop("The video says that it lasts longer than a week, or less than no time."))
    refuse_file_without_video_by_ffprobe(path, mime_type)
    return InspectedFile("video", mime_type, width, height, round(seconds * 1000) or None)
