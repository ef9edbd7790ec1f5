"""MP4 sample tables: the byte ranges of a track's samples, and the duration of fragments (ISO/IEC 14496-12 8.7 and 8.8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from media.errors import MediaTypeNotAllowed
from media.inspection.isobmff import MAX_NUMBERS, Box, BoxFile

_BASE_OFFSET, _DESCRIPTION, _DURATION = 0x01, 0x02, 0x08  # fields present in a track fragment header
_DATA_OFFSET, _FIRST_FLAGS = 0x01, 0x04  # fields present in a track run
_SAMPLE_DURATION = 0x100
_SAMPLE_FIELDS = (_SAMPLE_DURATION, 0x200, 0x400, 0x800)  # duration, size, flags, composition offset: four bytes each


def chunk_offsets(file: BoxFile, tables: Box) -> Sequence[int]:
    """File offsets of the chunks of samples in an MP4 track; empty if the track has no offset table."""
    table = file.child(tables, b"stco") or file.child(tables, b"co64")
    if table is None:
        return ()
    return file.table(table, "I" if table.kind == b"stco" else "Q", file.numbers(table, "I", 4)[0])


def sample_ranges(file: BoxFile, tables: Box) -> Iterator[tuple[int, int]]:
    """Yield the byte range (start, end) of each chunk of samples in an MP4 track that is inside the file's media data.

    Yields nothing if a sample table is invalid.
    """
    media = [box for box in file.top() if box.kind == b"mdat"]
    try:
        sizes, runs, offsets = _sample_sizes(file, tables), _chunk_runs(file, tables), chunk_offsets(file, tables)
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
        file.deadline.check()
        if any(box.body <= offset and offset + length <= box.end for box in media):
            yield offset, offset + length


def _sample_sizes(file: BoxFile, tables: Box) -> Sequence[int]:
    table = file.child(tables, b"stsz")
    if table is None:
        return ()
    same, count = file.numbers(table, "II", 4)
    return [same] * min(count, MAX_NUMBERS) if same else file.table(table, "I", count, 12)


def _chunk_runs(file: BoxFile, tables: Box) -> list[tuple[int, int]]:
    """The runs of chunks in an MP4 track, as (number of the first chunk, samples in each chunk)."""
    table = file.child(tables, b"stsc")
    if table is None:
        return []
    numbers = file.table(table, "I", 3 * file.numbers(table, "I", 4)[0])
    return list(zip(numbers[::3], numbers[1::3], strict=True))


def fragments_duration(file: BoxFile, extension: Box, fragments: Sequence[Box], track_id: int) -> int:
    """Duration of a track in a fragmented MP4 file, in units of the track's clock, summed over its fragments.

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
    """Default sample duration of a fragmented MP4 track (`trex` box), for fragments that state none."""
    for box in file.children(extension):
        if box.kind == b"trex" and file.numbers(box, "I", 4)[0] == track_id:
            return file.numbers(box, "I", 12)[0]
    return 0


def _fragment_duration(file: BoxFile, traf: Box, track_id: int, usual: int) -> int:
    total = 0
    for box in file.children(traf):
        if box.kind == b"tfhd":
            flags, identifier = file.numbers(box, "II")
            if identifier != track_id:
                return 0
            if flags & _DURATION:
                at = 8 + (8 if flags & _BASE_OFFSET else 0) + (4 if flags & _DESCRIPTION else 0)
                (usual,) = file.numbers(box, "I", at)
        elif box.kind == b"trun":
            total += _run_duration(file, box, usual)
    return total


def _run_duration(file: BoxFile, run: Box, usual: int) -> int:
    file.deadline.check()
    flags, samples = file.numbers(run, "II")
    if not flags & _SAMPLE_DURATION:
        return samples * usual
    start = 8 + (4 if flags & _DATA_OFFSET else 0) + (4 if flags & _FIRST_FLAGS else 0)
    fields = sum(1 for field in _SAMPLE_FIELDS if flags & field)
    return sum(file.table(run, "I", samples * fields, start)[::fields])
