"""MP4 and MOV videos: what their movie box says of the tracks, and whether all that it speaks of is there."""

from __future__ import annotations

import array
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from media.errors import MediaTypeNotAllowed
from media.inspection.bounds import broken, check_video_sides, checked_duration, cut_off
from media.inspection.ffprobe import check_with_ffprobe
from media.inspection.foreign import HEAD, ZIP_TAIL, check_ends
from media.inspection.fragments import fragments_duration
from media.inspection.inspected import Inspected
from media.inspection.isobmff import Box, Movie

_MAX_TRACKS = 100
_MAX_CHUNKS = 4_000_000
_SELF_CONTAINED = 1
_BLOCK = 1024 * 1024


@dataclass(frozen=True)
class _Track:
    """A video track: sides in pixels as shown, its own clock, and how many samples its tables list."""

    id: int
    width: int
    height: int
    seconds: float
    timescale: int
    samples: int


def inspect_movie(path: Path, mime_type: str) -> Inspected:
    """Check an MP4 or MOV video; raises MediaTypeNotAllowed."""
    try:
        with Movie(path) as movie:
            check_ends(movie.read(0, min(HEAD, movie.size)), _tail(movie))
            width, height, duration_ms = _read_movie(movie)
    except struct.error as error:
        raise broken("video") from error
    check_with_ffprobe(path, "mov")
    return Inspected("video", mime_type, width, height, duration_ms)


def _tail(movie: Movie) -> bytes:
    length = min(ZIP_TAIL, movie.size)
    return movie.read(movie.size - length, length)


def _read_movie(movie: Movie) -> tuple[int, int, int | None]:
    top = list(movie.top())
    moov = next((box for box in top if box.kind == b"moov"), None)
    if moov is None:
        raise MediaTypeNotAllowed("The video has no movie box; its end is missing, or it was never finished.")
    parts = list(movie.children(moov))
    if any(box.kind == b"cmov" for box in parts):
        raise MediaTypeNotAllowed("The video's movie box is compressed, which is not taken.")
    fragmented = any(box.kind == b"mvex" for box in parts)
    tracks = list(_video_tracks(movie, parts))
    if not fragmented:
        tracks = [track for track in tracks if track.samples]
    if not tracks or not any(box.kind == b"mdat" for box in top):
        raise MediaTypeNotAllowed("The file holds no video.")
    track = max(tracks, key=lambda track: track.width * track.height)
    check_video_sides(track.width, track.height)
    seconds = _movie_seconds(movie, parts) or track.seconds
    if fragmented and not seconds:
        seconds = fragments_duration(movie, moov, top, track.id) / (track.timescale or 1)
    return track.width, track.height, checked_duration(seconds)


def _movie_seconds(movie: Movie, parts: list[Box]) -> float:
    """By the movie's header; for a fragmented one by the header of its extension (14496-12 sections 8.2.2, 8.8.2)."""
    kinds = {box.kind: box for box in reversed(parts)}
    if b"mvhd" not in kinds:
        return 0.0
    timescale, duration = _clock(movie, kinds[b"mvhd"])
    extended = movie.child(kinds[b"mvex"], b"mehd") if b"mvex" in kinds else None
    if extended is not None:
        duration = movie.number(extended.body + 4, "Q" if movie.body(extended, 1)[0] == 1 else "I")
    return duration / timescale


def _clock(movie: Movie, header: Box) -> tuple[int, int]:
    """Timescale and duration of a movie or media header; all ones mean that the duration is not known."""
    wide = movie.body(header, 1)[0] == 1
    form, at, unknown = (">IQ", 20, 2**64 - 1) if wide else (">II", 12, 2**32 - 1)
    timescale, duration = struct.unpack(form, movie.read(header.body + at, struct.calcsize(form)))
    if not timescale:
        raise broken("video")
    return timescale, 0 if duration == unknown else duration


def _video_tracks(movie: Movie, parts: list[Box]) -> Iterator[_Track]:
    traks = [box for box in parts if box.kind == b"trak"]
    if len(traks) > _MAX_TRACKS:
        raise MediaTypeNotAllowed(f"The video has more than {_MAX_TRACKS} tracks.")
    for trak in traks:
        media = movie.child(trak, b"mdia")
        if media is None:
            raise broken("video")
        _check_references(movie, media)
        handler = movie.child(media, b"hdlr")
        if handler is not None and movie.body(handler, 12)[8:12] == b"vide":
            yield _read_track(movie, trak, media)


def _read_track(movie: Movie, trak: Box, media: Box) -> _Track:
    header, clock = movie.child(trak, b"tkhd"), movie.child(media, b"mdhd")
    tables = movie.child(media, b"minf", b"stbl")
    if header is None or clock is None or tables is None:
        raise broken("video")
    timescale, duration = _clock(movie, clock)
    width, height = _sides(movie, header, tables)
    sizes = movie.child(tables, b"stsz") or movie.child(tables, b"stz2")
    samples = movie.number(sizes.body + 8, "I") if sizes and sizes.size >= 12 else 0
    _check_offsets(movie, tables)
    wide = movie.body(header, 1)[0] == 1
    return _Track(
        id=movie.number(header.body + (20 if wide else 12), "I"),
        width=width,
        height=height,
        seconds=duration / timescale,
        timescale=timescale,
        samples=samples,
    )


def _sides(movie: Movie, header: Box, tables: Box) -> tuple[int, int]:
    """Those of the track header, which are as shown, turned by its matrix; else those of the coded picture."""
    at = header.body + (52 if movie.body(header, 1)[0] == 1 else 40)
    if at + 44 > header.end:
        raise broken("video")
    a, b, _, c, d, *_moved, wide, high = struct.unpack(">9i2I", movie.read(at, 44))
    width, height = wide >> 16, high >> 16
    if not width or not height:
        descriptions = movie.child(tables, b"stsd")
        if descriptions is None or descriptions.size < 8 + 36:
            raise broken("video")
        width, height = struct.unpack(">HH", movie.read(descriptions.body + 8 + 32, 4))
    if b and c and not a and not d:
        width, height = height, width
    return width, height


def _check_references(movie: Movie, media: Box) -> None:
    """Samples must lie in this file: a player, or a server that transcodes, would open what the track names."""
    references = movie.child(media, b"minf", b"dinf", b"dref")
    for entry in movie.children(references, skip=8) if references else ():
        if not movie.number(entry.body, "I") & _SELF_CONTAINED:
            raise MediaTypeNotAllowed("The video refers to another file.")


def _check_offsets(movie: Movie, tables: Box) -> None:
    """No chunk of samples may begin behind the end of the file, as it does in one that broke off."""
    table = movie.child(tables, b"stco") or movie.child(tables, b"co64")
    if table is None:
        return
    form = "I" if table.kind == b"stco" else "Q"
    count = movie.number(table.body + 4, "I")
    width = array.array(form).itemsize
    if count > _MAX_CHUNKS or 8 + count * width > table.size:
        raise broken("video")
    for start in range(table.body + 8, table.body + 8 + count * width, _BLOCK):
        offsets = array.array(form, movie.read(start, min(_BLOCK, table.body + 8 + count * width - start)))
        if sys.byteorder == "little":
            offsets.byteswap()
        if max(offsets) >= movie.size:
            raise cut_off("video")
