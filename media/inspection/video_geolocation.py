"""Removal of geolocation metadata from MP4, MOV and WebM videos, by overwriting boxes and elements in place.

In MP4 and MOV files, geolocation is in user data (3GPP TS 26.244 `loci`, QuickTime's `©xyz`, makers' own boxes), in
QuickTime's metadata lists (keys com.apple.quicktime.location.…), in XMP and makers' `uuid` boxes, and in tracks that record
the path of a drone, a dashcam or an action camera. The boxes are replaced by `free` boxes of zeros, and the samples of such
tracks by zeros. In WebM files, tags such as LOCATION become Void elements of equal length; their names are those of the
Matroska tag registry (matroska.org, "Tagging": RECORDING_LOCATION, COMPOSITION_LOCATION …).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from media.errors import MediaTypeNotAllowed
from media.inspection.bounds import broken_file_error
from media.inspection.image_metadata import contains_geolocation
from media.inspection.isobmff import Box, BoxFile
from media.inspection.movie import sample_chunk_byte_ranges
from media.inspection.webm import TAGS, Element, ElementFile, find_segment_and_end

_ALWAYS = (b"\xa9xyz", b"loci", b"gps ")
_KEY = re.compile(rb"(?i)location|gps|latitude|longitude|xyz")
# Sample entries of geolocation tracks: CAMM (Google), GPMF (GoPro), two of DJI, and Sony's real-time metadata.
_GEOLOCATION_TRACKS = (b"camm", b"gpmd", b"djmd", b"dbgi", b"rtmd")
_SEARCHED_BOX_BYTES = 8 * 1024 * 1024  # the part of an MP4 box that is searched for geolocation
_MAX_SAMPLE_DESCRIPTION = 256 * 1024
_DASHCAM_BLOCK = 16

_TAG, _SIMPLE_TAG, _CHECKSUM, _VOID = 0x7373, 0x67C8, 0xBF, b"\xec"
_TAG_NAME = re.compile(rb"(?i)\x45\xa3.{1,8}?[a-z._-]*(?:location|gps|latitude|longitude)", re.DOTALL)
_SEARCHED_TAG_BYTES = 1024 * 1024

_BLOCK = 1024 * 1024


class _Edit(NamedTuple):
    """An edit that removes geolocation from a video file: write `mark` at the offset `start`, then zeros up to `end`."""

    start: int
    end: int
    mark: bytes = b""


def overwrite_geolocation_in_video(path: Path, mime_type: str) -> bool:
    """Overwrite the geolocation metadata inside an inspected video file; returns whether there were any.

    Raises MediaTypeNotAllowed if the metadata overlap so much that a small file would cause hours of writing.
    """
    edits = list(_webm_edits(path) if mime_type == "video/webm" else _movie_edits(path))
    if not edits:
        return False
    if sum(edit.end - edit.start for edit in edits) > path.stat().st_size:
        raise broken_file_error("video")
    with path.open("r+b") as file:
        for edit in edits:
            file.seek(edit.start)
            file.write(edit.mark)
            left = edit.end - edit.start - len(edit.mark)
            while left > 0:
                left -= file.write(bytes(min(left, _BLOCK)))
    return True


def _movie_edits(path: Path) -> Iterator[_Edit]:
    with BoxFile(path) as movie:
        for box in movie.top_level_boxes():
            if box.kind != b"moov":
                yield from _metadata_edits(movie, box)
                continue
            for part in movie.children(box):
                if part.kind == b"trak":
                    yield from _track_edits(movie, part)
                elif part.kind == b"gps ":
                    yield from _dashcam_edits(movie, part)
                else:
                    yield from _metadata_edits(movie, part)


def _metadata_edits(movie: BoxFile, box: Box) -> Iterator[_Edit]:
    """Yield the edits that remove geolocation from one metadata box of an MP4 file, of the type `udta`, `meta` or `uuid`.

    A box that cannot be parsed is removed completely if its content includes geolocation.
    """
    try:
        if box.kind == b"udta":
            edits = list(_user_data_edits(movie, box))
        elif box.kind == b"meta":
            edits = list(_metadata_list_edits(movie, box))
        else:
            edits = [_freed(box)] if box.kind == b"uuid" and _box_has_geolocation(movie, box) else []
    except MediaTypeNotAllowed:
        edits = [_freed(box)] if _box_has_geolocation(movie, box) else []
    yield from edits


def _user_data_edits(movie: BoxFile, box: Box) -> Iterator[_Edit]:
    for entry in movie.children(box):
        if entry.kind == b"meta":
            yield from _metadata_list_edits(movie, entry)
        elif entry.kind in _ALWAYS or _box_has_geolocation(movie, entry):
            yield _freed(entry)


def _metadata_list_edits(movie: BoxFile, meta: Box) -> Iterator[_Edit]:
    """Yield the edits that remove geolocation entries from a metadata list (`meta` box) of an MP4 file.

    The list's box `keys` names the entries of its box `ilst`. See QuickTime File Format, "Metadata".
    """
    if meta.content_size < 8:
        return
    skip = 0 if movie.read_content_beginning(meta, 8)[4:] == b"hdlr" else 4  # QuickTime's `meta` box has no version and flags
    parts = {part.kind: part for part in movie.children(meta, skip=skip)}
    names: list[bytes] = []
    if b"keys" in parts:
        keys = parts[b"keys"]
        names = [movie.read(key.body, min(key.content_size, 1024)) for key in movie.children(keys, skip=8)]
    for entry in movie.children(parts[b"ilst"]) if b"ilst" in parts else ():
        (index,) = struct.unpack(">I", entry.kind)
        named = 0 < index <= len(names) and _KEY.search(names[index - 1])
        if named or entry.kind in _ALWAYS or _box_has_geolocation(movie, entry):
            yield _freed(entry)
    for part in parts.values():
        if part.kind not in (b"hdlr", b"keys", b"ilst") and _box_has_geolocation(movie, part):
            yield _freed(part)


def _track_edits(movie: BoxFile, trak: Box) -> Iterator[_Edit]:
    tables = movie.find_descendant(trak, b"mdia", b"minf", b"stbl")
    if tables is not None and _is_geolocation_track(movie, trak, tables):
        yield from (_Edit(start, end) for start, end in sample_chunk_byte_ranges(movie, tables))
        yield _freed(trak)
        return
    for part in movie.children(trak):
        yield from _metadata_edits(movie, part)


def _is_geolocation_track(movie: BoxFile, trak: Box, tables: Box) -> bool:
    """Return whether an MP4 track records geolocation, according to its sample entry or its description."""
    handler, descriptions = movie.find_descendant(trak, b"mdia", b"hdlr"), movie.find_descendant(tables, b"stsd")
    if handler is None or descriptions is None or descriptions.content_size < 16:
        return False
    kind = movie.read_content_beginning(handler, 12)[8:12]
    description = movie.read_content_beginning(descriptions, min(descriptions.content_size, _MAX_SAMPLE_DESCRIPTION))
    if description[12:16] in _GEOLOCATION_TRACKS:
        return True
    return kind not in (b"vide", b"soun") and _KEY.search(description) is not None


def _dashcam_edits(movie: BoxFile, table: Box) -> Iterator[_Edit]:
    """Yield the edits that remove a dashcam's geolocation blocks from an MP4 file, at the offsets that its `gps ` box lists.

    Novatek's chips write this box.
    """
    content = movie.read_content_beginning(table, min(table.content_size, _SEARCHED_BOX_BYTES))
    for at in range(8, len(content) - 7, 8):
        start, length = struct.unpack_from(">II", content, at)
        if length >= _DASHCAM_BLOCK and start + length <= movie.size and movie.read(start + 4, 8) == b"freeGPS ":
            yield _Edit(start + 8, start + length)
    yield _freed(table)


def _box_has_geolocation(movie: BoxFile, box: Box) -> bool:
    movie.deadline.raise_if_exceeded()
    return contains_geolocation(movie.read_content_beginning(box, min(box.content_size, _SEARCHED_BOX_BYTES)))


def _freed(box: Box) -> _Edit:
    """Return the edit that turns an MP4 box with geolocation into a `free` box of zeros.

    A 64-bit size field is preserved.
    """
    size = struct.pack(">Q", box.end - box.start) if box.body - box.start == 16 else b""
    return _Edit(box.start + 4, box.end, b"free" + size)


def _webm_edits(path: Path) -> Iterator[_Edit]:
    with ElementFile(path) as file:
        segment, end = find_segment_and_end(file)
        for element in file.elements_between(segment.body, end):
            if element.id == TAGS:
                yield from _tag_edits(file, element)


def _tag_edits(file: ElementFile, tags: Element) -> Iterator[_Edit]:
    """Yield the edits that remove geolocation tags from a WebM Tags element, and the checksums that no longer match."""
    outer = list(file.children(tags))
    found = False
    for tag in (element for element in outer if element.id == _TAG):
        inner = list(file.children(tag))
        removed = {element for element in inner if element.id == _SIMPLE_TAG and _tag_has_geolocation(file, element)}
        found = found or bool(removed)
        yield from (_void(element) for element in inner if element in removed or (removed and element.id == _CHECKSUM))
    if found:
        yield from (_void(element) for element in outer if element.id == _CHECKSUM)


def _tag_has_geolocation(file: ElementFile, tag: Element) -> bool:
    file.deadline.raise_if_exceeded()
    content = file.read(tag.body, min((tag.end or tag.body) - tag.body, _SEARCHED_TAG_BYTES))
    return _TAG_NAME.search(content) is not None or contains_geolocation(content)


def _void(element: Element) -> _Edit:
    """Return the edit that turns a WebM element with geolocation into a Void element (padding) of equal length.

    The Void element's size field takes one or eight bytes. See RFC 8794 section 4.
    """
    end = element.end or element.body
    length = end - element.start
    size = bytes((0x80 | length - 2,)) if length - 2 < 0x7F else (1 << 56 | length - 9).to_bytes(8, "big")
    return _Edit(element.start, end, _VOID + size)
