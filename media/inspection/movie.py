"""The parser for tracks of MP4 and MOV files and their sample tables (ISO/IEC 14496-12 section 8, QuickTime File Format)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.utils.translation import gettext_noop

from media.errors import MediaTypeNotAllowed
from media.inspection.bounds import broken_file_error, truncated_file_error
from media.inspection.isobmff import MAX_NUMBERS, Box, BoxFile, group_boxes_by_type

_MAX_TRACKS = 100
_SELF_CONTAINED = 1
_BASE_OFFSET, _DESCRIPTION, _DURATION = 0x01, 0x02, 0x08  # fields present in a track fragment header
_DATA_OFFSET, _FIRST_FLAGS = 0x01, 0x04  # fields present in a track run
_SAMPLE_DURATION = 0x100
_SAMPLE_FIELDS = (_SAMPLE_DURATION, 0x200, 0x400, 0x800)  # duration, size, flags, composition offset: four bytes each


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


def movie_dimensions_and_duration(path: Path) -> tuple[int, int, float]:
    """Return the width and height of an MP4 or MOV file's largest video track, and the video's duration in seconds.

    The duration is 0 if the file does not state it. The size is the displayed one, in pixels. Raises MediaTypeNotAllowed.
    """
    with BoxFile(path) as file:
        top = group_boxes_by_type(file.top_level_boxes())
        if b"moov" not in top:
            raise MediaTypeNotAllowed(
                gettext_noop("The video has no movie box; its end is missing, or it was never finished.")
            )
        parts = group_boxes_by_type(file.children(top[b"moov"][0]))
        if b"cmov" in parts:
            raise MediaTypeNotAllowed(gettext_noop("The video's movie box is compressed, which is not taken."))
        tracks = _video_tracks(file, parts[b"trak"])
        if b"mvex" not in parts:  # in a fragmented video the samples are listed elsewhere
            tracks = [track for track in tracks if track.samples]
        if not tracks or b"mdat" not in top:
            raise MediaTypeNotAllowed(gettext_noop("The file holds no video."))
        track = max(tracks, key=lambda track: track.width * track.height)
        seconds = _movie_seconds(file, parts) or track.seconds
        if b"mvex" in parts and not seconds:
            seconds = _fragments_duration(file, parts[b"mvex"][0], top[b"moof"], track.id) / track.timescale
        return track.width, track.height, seconds


def _movie_seconds(file: BoxFile, parts: Mapping[bytes, Sequence[Box]]) -> float:
    """Return an MP4 file's duration in seconds from its movie header, or from its movie extends header if fragmented.

    See 14496-12 sections 8.2.2 and 8.8.2.
    """
    if b"mvhd" not in parts:
        return 0.0
    timescale, duration = _clock(file, parts[b"mvhd"][0])
    extended = file.find_descendant(parts[b"mvex"][0], b"mehd") if b"mvex" in parts else None
    if extended is not None:
        (duration,) = file.unpack_numbers(extended, "Q" if file.read_box_version(extended) == 1 else "I", 4)
    return duration / timescale


def _clock(file: BoxFile, header: Box) -> tuple[int, int]:
    """Return the timescale and duration that an MP4 movie or media header states; an unknown duration is returned as 0.

    In the file, an unknown duration is all ones.
    """
    wide = file.read_box_version(header) == 1
    timescale, duration = file.unpack_numbers(header, "IQ", 20) if wide else file.unpack_numbers(header, "II", 12)
    if not timescale:
        raise broken_file_error("video")
    return timescale, 0 if duration == (2**64 - 1 if wide else 2**32 - 1) else duration


def _video_tracks(file: BoxFile, traks: Sequence[Box]) -> list[_Track]:
    if len(traks) > _MAX_TRACKS:
        raise MediaTypeNotAllowed(f"The video has more than {_MAX_TRACKS} tracks.")
    tracks = []
    for trak in traks:
        media = file.find_descendant(trak, b"mdia")
        if media is None:
            raise broken_file_error("video")
        _check_references(file, media)
        handler = file.find_descendant(media, b"hdlr")
        if handler is not None and file.read_content_beginning(handler, 12)[8:12] == b"vide":
            tracks.append(_read_track(file, trak, media))
    return tracks


def _read_track(file: BoxFile, trak: Box, media: Box) -> _Track:
    header, clock = file.find_descendant(trak, b"tkhd"), file.find_descendant(media, b"mdhd")
    tables = file.find_descendant(media, b"minf", b"stbl")
    if header is None or clock is None or tables is None:
        raise broken_file_error("video")
    timescale, duration = _clock(file, clock)
    width, height = _sides(file, header, tables)
    sizes = file.find_descendant(tables, b"stsz") or file.find_descendant(tables, b"stz2")
    (samples,) = file.unpack_numbers(sizes, "I", 8) if sizes and sizes.content_size >= 12 else (0,)
    if max(_chunk_offsets(file, tables), default=0) >= file.size:  # the file is incomplete
        raise truncated_file_error("video")
    (number,) = file.unpack_numbers(header, "I", 20 if file.read_box_version(header) == 1 else 12)
    return _Track(number, width, height, duration / timescale, timescale, samples)


def _sides(file: BoxFile, header: Box, tables: Box) -> tuple[int, int]:
    """Return the width and height at which an MP4 video track is displayed, after the rotation in the track header.

    If the header states no size, the size of the coded picture is used.
    """
    a, b, _, c, d, *_moved, wide, high = file.unpack_numbers(header, "9i2I", 52 if file.read_box_version(header) == 1 else 40)
    width, height = wide >> 16, high >> 16
    if not width or not height:
        descriptions = file.find_descendant(tables, b"stsd")
        if descriptions is None:
            raise broken_file_error("video")
        width, height = file.unpack_numbers(descriptions, "HH", 40)
    if b and c and not a and not d:
        width, height = height, width
    return width, height


def _check_references(file: BoxFile, media: Box) -> None:
    """Refuse an MP4 track whose samples are in another file, because a player or transcoder would open that file."""
    references = file.find_descendant(media, b"minf", b"dinf", b"dref")
    for entry in file.children(references, skip=8) if references else ():
        if not file.unpack_numbers(entry, "I")[0] & _SELF_CONTAINED:
            raise MediaTypeNotAllowed(gettext_noop("The video refers to another file."))


def _chunk_offsets(file: BoxFile, tables: Box) -> Sequence[int]:
    """Return the file offsets of an MP4 track's chunks of samples, or nothing if the track has no offset table."""
    table = file.find_descendant(tables, b"stco") or file.find_descendant(tables, b"co64")
    if table is None:
        return ()
    return file.read_number_array(table, "I" if table.kind == b"stco" else "Q", file.unpack_numbers(table, "I", 4)[0])


def sample_chunk_byte_ranges(file: BoxFile, tables: Box) -> Iterator[tuple[int, int]]:
    """Yield the byte range (start, end) of each sample chunk of an MP4 track; chunks outside the media data are skipped.

    Yields nothing if a sample table is invalid.
    """
    media = [box for box in file.top_level_boxes() if box.kind == b"mdat"]
    try:
        sizes, runs, offsets = _sample_sizes(file, tables), _chunk_runs(file, tables), _chunk_offsets(file, tables)
    except MediaTypeNotAllowed:
        return
    sample, run = 0, 0
    for number, offset in enumerate(offsets, start=1):
        while run + 1 < len(runs) and runs[run + 1][0] <= number:
            run += 1
        count = runs[run][1] if runs else 0
        length = sum(sizes[sample : sample + count])
        sample += count
        if not length:
            continue
        file.deadline.raise_if_exceeded()
        if any(box.body <= offset and offset + length <= box.end for box in media):
            yield offset, offset + length


def _sample_sizes(file: BoxFile, tables: Box) -> Sequence[int]:
    table = file.find_descendant(tables, b"stsz")
    if table is None:
        return ()
    same, count = file.unpack_numbers(table, "II", 4)
    return [same] * min(count, MAX_NUMBERS) if same else file.read_number_array(table, "I", count, 12)


def _chunk_runs(file: BoxFile, tables: Box) -> list[tuple[int, int]]:
    """Return an MP4 track's runs of chunks with equally many samples: first chunk's number, and samples per chunk."""
    table = file.find_descendant(tables, b"stsc")
    if table is None:
        return []
    numbers = file.read_number_array(table, "I", 3 * file.unpack_numbers(table, "I", 4)[0])
    return list(zip(numbers[::3], numbers[1::3], strict=True))


def _fragments_duration(file: BoxFile, extension: Box, fragments: Sequence[Box], track_id: int) -> int:
    """Return the total duration of all fragments of a fragmented MP4 track, in units of the track's clock.

    Used if the file's headers state no duration.
    """
    usual = _usual_duration(file, extension, track_id)
    return sum(
        _fragment_duration(file, part, track_id, usual)
        for fragment in fragments
        for part in file.children(fragment)
        if part.kind == b"traf"
    )


def _usual_duration(file: BoxFile, extension: Box, track_id: int) -> int:
    """Return the default duration of samples in a fragmented MP4 track (`trex` box), for fragments that state none."""
    for box in file.children(extension):
        if box.kind == b"trex" and file.unpack_numbers(box, "I", 4)[0] == track_id:
            return file.unpack_numbers(box, "I", 12)[0]
    return 0


def _fragment_duration(file: BoxFile, traf: Box, track_id: int, usual: int) -> int:
    total = 0
    for box in file.children(traf):
        if box.kind == b"tfhd":
            flags, identifier = file.unpack_numbers(box, "II")
            if identifier != track_id:
                return 0
            if flags & _DURATION:
                at = 8 + (8 if flags & _BASE_OFFSET else 0) + (4 if flags & _DESCRIPTION else 0)
                (usual,) = file.unpack_numbers(box, "I", at)
        elif box.kind == b"trun":
            total += _run_duration(file, box, usual)
    return total


def _run_duration(file: BoxFile, run: Box, usual: int) -> int:
    file.deadline.raise_if_exceeded()
    flags, samples = file.unpack_numbers(run, "II")
    if not flags & _SAMPLE_DURATION:
        return samples * usual
    start = 8 + (4 if flags & _DATA_OFFSET else 0) + (4 if flags & _FIRST_FLAGS else 0)
    fields = sum(1 for field in _SAMPLE_FIELDS if flags & field)
    return sum(file.read_number_array(run, "I", samples * fields, start)[::fields])
