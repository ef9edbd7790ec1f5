"""Parser for the video tracks of MP4 and MOV files (ISO/IEC 14496-12 section 8, QuickTime File Format)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from media.errors import MediaTypeNotAllowed
from media.inspection.bounds import broken, cut_off
from media.inspection.isobmff import Box, BoxFile, by_kind
from media.inspection.samples import chunk_offsets, fragments_duration
from media.inspection.video_file import Picture

_MAX_TRACKS = 100
_SELF_CONTAINED = 1


@dataclass(frozen=True)
class _Track:
    """A video track of an MP4 or MOV file.

    `width` and `height` are the displayed size in pixels, `timescale` is the number of clock units in a second, and `samples`
    is the number of samples in the track's tables.
    """

    id: int
    width: int
    height: int
    seconds: float
    timescale: int
    samples: int


def read_movie(path: Path) -> Picture:
    """Size and duration of the largest video track of an MP4 or MOV file; raises MediaTypeNotAllowed."""
    with BoxFile(path) as file:
        top = by_kind(file.top())
        if b"moov" not in top:
            raise MediaTypeNotAllowed("The video has no movie box; its end is missing, or it was never finished.")
        parts = by_kind(file.children(top[b"moov"][0]))
        if b"cmov" in parts:
            raise MediaTypeNotAllowed("The video's movie box is compressed, which is not taken.")
        tracks = _video_tracks(file, parts[b"trak"])
        if b"mvex" not in parts:  # in a fragmented video the samples are listed elsewhere
            tracks = [track for track in tracks if track.samples]
        if not tracks or b"mdat" not in top:
            raise MediaTypeNotAllowed("The file holds no video.")
        track = max(tracks, key=lambda track: track.width * track.height)
        seconds = _movie_seconds(file, parts) or track.seconds
        if b"mvex" in parts and not seconds:
            seconds = fragments_duration(file, parts[b"mvex"][0], top[b"moof"], track.id) / track.timescale
        return Picture(track.width, track.height, seconds)


def _movie_seconds(file: BoxFile, parts: Mapping[bytes, Sequence[Box]]) -> float:
    """Duration of an MP4 file by its movie header, or of a fragmented one by the header of its movie extends box.

    See 14496-12 sections 8.2.2 and 8.8.2.
    """
    if b"mvhd" not in parts:
        return 0.0
    timescale, duration = _clock(file, parts[b"mvhd"][0])
    extended = file.child(parts[b"mvex"][0], b"mehd") if b"mvex" in parts else None
    if extended is not None:
        (duration,) = file.numbers(extended, "Q" if file.version(extended) == 1 else "I", 4)
    return duration / timescale


def _clock(file: BoxFile, header: Box) -> tuple[int, int]:
    """Timescale and duration from a movie or media header; a duration of all ones means unknown and is returned as 0."""
    wide = file.version(header) == 1
    timescale, duration = file.numbers(header, "IQ", 20) if wide else file.numbers(header, "II", 12)
    if not timescale:
        raise broken("video")
    return timescale, 0 if duration == (2**64 - 1 if wide else 2**32 - 1) else duration


def _video_tracks(file: BoxFile, traks: Sequence[Box]) -> list[_Track]:
    if len(traks) > _MAX_TRACKS:
        raise MediaTypeNotAllowed(f"The video has more than {_MAX_TRACKS} tracks.")
    tracks = []
    for trak in traks:
        media = file.child(trak, b"mdia")
        if media is None:
            raise broken("video")
        _check_references(file, media)
        handler = file.child(media, b"hdlr")
        if handler is not None and file.body(handler, 12)[8:12] == b"vide":
            tracks.append(_read_track(file, trak, media))
    return tracks


def _read_track(file: BoxFile, trak: Box, media: Box) -> _Track:
    header, clock = file.child(trak, b"tkhd"), file.child(media, b"mdhd")
    tables = file.child(media, b"minf", b"stbl")
    if header is None or clock is None or tables is None:
        raise broken("video")
    timescale, duration = _clock(file, clock)
    width, height = _sides(file, header, tables)
    sizes = file.child(tables, b"stsz") or file.child(tables, b"stz2")
    (samples,) = file.numbers(sizes, "I", 8) if sizes and sizes.size >= 12 else (0,)
    if max(chunk_offsets(file, tables), default=0) >= file.size:  # the file is incomplete
        raise cut_off("video")
    (number,) = file.numbers(header, "I", 20 if file.version(header) == 1 else 12)
    return _Track(number, width, height, duration / timescale, timescale, samples)


def _sides(file: BoxFile, header: Box, tables: Box) -> tuple[int, int]:
    """Displayed size of an MP4 video track, by the track header and its matrix, or else by the size of the coded picture."""
    a, b, _, c, d, *_moved, wide, high = file.numbers(header, "9i2I", 52 if file.version(header) == 1 else 40)
    width, height = wide >> 16, high >> 16
    if not width or not height:
        descriptions = file.child(tables, b"stsd")
        if descriptions is None:
            raise broken("video")
        width, height = file.numbers(descriptions, "HH", 40)
    if b and c and not a and not d:
        width, height = height, width
    return width, height


def _check_references(file: BoxFile, media: Box) -> None:
    """Refuse an MP4 track whose samples are in another file: a player or transcoding server would open that file."""
    references = file.child(media, b"minf", b"dinf", b"dref")
    for entry in file.children(references, skip=8) if references else ():
        if not file.numbers(entry, "I")[0] & _SELF_CONTAINED:
            raise MediaTypeNotAllowed("The video refers to another file.")
