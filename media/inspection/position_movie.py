"""Removal of geolocation metadata from MP4 and MOV videos, by overwriting boxes in place.

Geolocation is in user data (3GPP TS 26.244 `loci`, QuickTime's `©xyz`, makers' own boxes), in QuickTime's metadata lists
(keys com.apple.quicktime.location.…), in XMP and makers' `uuid` boxes, and in tracks that record the path of a drone, a
dashcam or an action camera. The boxes are replaced by `free` boxes of zeros, and the samples of such tracks by zeros.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path

from media.errors import MediaTypeNotAllowed
from media.inspection.image_metadata import tells_position
from media.inspection.isobmff import Box, BoxFile
from media.inspection.overwriting import Edit, overwrite
from media.inspection.samples import sample_ranges

_ALWAYS = (b"\xa9xyz", b"loci", b"gps ")
_KEY = re.compile(rb"(?i)location|gps|latitude|longitude|xyz")
# Sample entries of geolocation tracks: CAMM (Google), GPMF (GoPro), two of DJI, and Sony's real-time metadata.
_POSITION_TRACKS = (b"camm", b"gpmd", b"djmd", b"dbgi", b"rtmd")
_INSPECTED_BYTES = 8 * 1024 * 1024  # the part of a box that is searched for geolocation
_MAX_SAMPLE_DESCRIPTION = 256 * 1024
_DASHCAM_BLOCK = 16


def remove_from_movie(path: Path, mime_type: str) -> bool:
    """Overwrite the geolocation metadata of an inspected MP4 or MOV file; returns whether it had any."""
    with BoxFile(path) as movie:
        edits = list(_edits(movie))
    return overwrite(path, edits)


def _edits(movie: BoxFile) -> Iterator[Edit]:
    for box in movie.top():
        if box.kind == b"moov":
            for part in movie.children(box):
                yield from _movie_part(movie, part)
        else:
            yield from _metadata(movie, box)


def _movie_part(movie: BoxFile, part: Box) -> Iterator[Edit]:
    if part.kind == b"trak":
        yield from _track(movie, part)
    elif part.kind == b"gps ":
        yield from _dashcam(movie, part)
    else:
        yield from _metadata(movie, part)


def _metadata(movie: BoxFile, box: Box) -> Iterator[Edit]:
    """Yield the edits that remove geolocation from one box of an MP4 file, movie or track.

    A box that cannot be parsed is removed completely if its content includes geolocation.
    """
    try:
        if box.kind == b"udta":
            edits = list(_user_metadata(movie, box))
        elif box.kind == b"meta":
            edits = list(_list(movie, box))
        else:
            edits = [_freed(box)] if box.kind == b"uuid" and _tells_position(movie, box) else []
    except MediaTypeNotAllowed:
        edits = [_freed(box)] if _tells_position(movie, box) else []
    yield from edits


def _user_metadata(movie: BoxFile, box: Box) -> Iterator[Edit]:
    for entry in movie.children(box):
        if entry.kind == b"meta":
            yield from _list(movie, entry)
        elif entry.kind in _ALWAYS or _tells_position(movie, entry):
            yield _freed(entry)


def _list(movie: BoxFile, meta: Box) -> Iterator[Edit]:
    """Yield the edits for an MP4 metadata list, in which `keys` names the entries of `ilst`, counted from 1.

    See QuickTime File Format, "Metadata".
    """
    if meta.size < 8:
        return
    skip = 0 if movie.body(meta, 8)[4:] == b"hdlr" else 4  # QuickTime's `meta` box has no version and flags
    parts = {part.kind: part for part in movie.children(meta, skip=skip)}
    names: list[bytes] = []
    if b"keys" in parts:
        keys = parts[b"keys"]
        names = [movie.read(key.body, min(key.size, 1024)) for key in movie.children(keys, skip=8)]
    for entry in movie.children(parts[b"ilst"]) if b"ilst" in parts else ():
        (index,) = struct.unpack(">I", entry.kind)
        named = 0 < index <= len(names) and _KEY.search(names[index - 1])
        if named or entry.kind in _ALWAYS or _tells_position(movie, entry):
            yield _freed(entry)
    for part in parts.values():
        if part.kind not in (b"hdlr", b"keys", b"ilst") and _tells_position(movie, part):
            yield _freed(part)


def _track(movie: BoxFile, trak: Box) -> Iterator[Edit]:
    tables = movie.child(trak, b"mdia", b"minf", b"stbl")
    if tables is not None and _follows_position(movie, trak, tables):
        yield from (Edit(start, end) for start, end in sample_ranges(movie, tables))
        yield _freed(trak)
        return
    for part in movie.children(trak):
        yield from _metadata(movie, part)


def _follows_position(movie: BoxFile, trak: Box, tables: Box) -> bool:
    """Whether an MP4 track records geolocation, by its sample entry or its description."""
    handler, descriptions = movie.child(trak, b"mdia", b"hdlr"), movie.child(tables, b"stsd")
    if handler is None or descriptions is None or descriptions.size < 16:
        return False
    kind = movie.body(handler, 12)[8:12]
    description = movie.body(descriptions, min(descriptions.size, _MAX_SAMPLE_DESCRIPTION))
    if description[12:16] in _POSITION_TRACKS:
        return True
    return kind not in (b"vide", b"soun") and _KEY.search(description) is not None


def _dashcam(movie: BoxFile, table: Box) -> Iterator[Edit]:
    """Yield the edits for a dashcam's `gps ` box, which lists offsets and lengths of geolocation blocks between the samples.

    Novatek's chips write this box.
    """
    content = movie.body(table, min(table.size, _INSPECTED_BYTES))
    for at in range(8, len(content) - 7, 8):
        start, length = struct.unpack_from(">II", content, at)
        if length >= _DASHCAM_BLOCK and start + length <= movie.size and movie.read(start + 4, 8) == b"freeGPS ":
            yield Edit(start + 8, start + length)
    yield _freed(table)


def _tells_position(movie: BoxFile, box: Box) -> bool:
    movie.deadline.check()
    return tells_position(movie.body(box, min(box.size, _INSPECTED_BYTES)))


def _freed(box: Box) -> Edit:
    """The edit that turns an MP4 box into a `free` box of zeros; a 64-bit size after the box type is preserved."""
    size = struct.pack(">Q", box.end - box.start) if box.body - box.start == 16 else b""
    return Edit(box.start + 4, box.end, b"free" + size)
