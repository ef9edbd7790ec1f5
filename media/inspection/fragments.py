"""How long a fragmented MP4 is that does not say it: the sum of its samples (ISO/IEC 14496-12 section 8.8)."""

from __future__ import annotations

import struct

from media.inspection.bounds import broken
from media.inspection.isobmff import Box, Movie

_BASE_OFFSET, _DESCRIPTION, _DURATION = 0x01, 0x02, 0x08  # fields present in a track fragment header
_DATA_OFFSET, _FIRST_FLAGS = 0x01, 0x04  # and in a track run
_MAX_SAMPLES = 1_000_000  # in one run
_SAMPLE_FIELDS = (0x100, 0x200, 0x400, 0x800)  # duration, size, flags, composition offset: four bytes each


def fragments_duration(movie: Movie, moov: Box, top: list[Box], track_id: int) -> int:
    """The length of a track in the units of its clock."""
    usual = _usual_duration(movie, moov, track_id)
    total = 0
    for moof in (box for box in top if box.kind == b"moof"):
        for traf in (box for box in movie.children(moof) if box.kind == b"traf"):
            total += _fragment_duration(movie, traf, track_id, usual)
    return total


def _usual_duration(movie: Movie, moov: Box, track_id: int) -> int:
    """What a sample lasts where its fragment does not say otherwise (trex)."""
    extension = movie.child(moov, b"mvex")
    for box in movie.children(extension) if extension else ():
        if box.kind == b"trex" and movie.number(box.body + 4, "I") == track_id:
            return movie.number(box.body + 12, "I")
    return 0


def _fragment_duration(movie: Movie, traf: Box, track_id: int, usual: int) -> int:
    total = 0
    for box in movie.children(traf):
        if box.kind == b"tfhd":
            flags, identifier = struct.unpack(">II", movie.body(box, 8))
            if identifier != track_id:
                return 0
            if flags & _DURATION:
                at = 8 + (8 if flags & _BASE_OFFSET else 0) + (4 if flags & _DESCRIPTION else 0)
                usual = movie.number(box.body + at, "I")
        elif box.kind == b"trun":
            total += _run_duration(movie, box, usual)
    return total


def _run_duration(movie: Movie, run: Box, usual: int) -> int:
    movie.deadline.check()
    flags, samples = struct.unpack(">II", movie.body(run, 8))
    if not flags & _SAMPLE_FIELDS[0]:
        return int(samples * usual)
    start = 8 + (4 if flags & _DATA_OFFSET else 0) + (4 if flags & _FIRST_FLAGS else 0)
    width = 4 * sum(1 for field in _SAMPLE_FIELDS if flags & field)
    if samples > _MAX_SAMPLES or start + samples * width > run.size:
        raise broken("video")
    table = movie.read(run.body + start, samples * width)
    return sum(struct.unpack_from(">I", table, at)[0] for at in range(0, len(table), width))
