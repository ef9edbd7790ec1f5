"""Where the samples of a track lie (ISO/IEC 14496-12 section 8.7)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from media.inspection.isobmff import Box, Movie

_MAX_ENTRIES = 1_000_000


def sample_ranges(movie: Movie, tables: Box) -> Iterator[tuple[int, int]]:
    """From and to in the file, chunk by chunk, as far as they lie in its media data; none where a table is missing."""
    media = [box for box in movie.top() if box.kind == b"mdat"]
    sizes, chunk_sizes, offsets = _sizes(movie, tables), _runs(movie, tables), _offsets(movie, tables)
    sample, run = 0, 0
    for number, offset in enumerate(offsets, start=1):
        while run + 1 < len(chunk_sizes) and chunk_sizes[run + 1][0] <= number:
            run += 1
        count = chunk_sizes[run][1] if chunk_sizes else 0
        length = sum(sizes[sample : sample + count])
        sample += count
        if length and any(box.body <= offset and offset + length <= box.end for box in media):
            yield offset, offset + length


def _sizes(movie: Movie, tables: Box) -> list[int]:
    table = movie.child(tables, b"stsz")
    if table is None:
        return []
    same, count = struct.unpack(">II", movie.body(table, 12)[4:])
    if count > _MAX_ENTRIES:
        return []
    return [same] * count if same else _numbers(movie, table, 12, count, "I")


def _runs(movie: Movie, tables: Box) -> list[tuple[int, int]]:
    """First chunk and samples in each chunk from there on."""
    table = movie.child(tables, b"stsc")
    if table is None:
        return []
    count = movie.number(table.body + 4, "I")
    numbers = _numbers(movie, table, 8, 3 * count, "I")
    return list(zip(numbers[::3], numbers[1::3], strict=True))


def _offsets(movie: Movie, tables: Box) -> list[int]:
    table = movie.child(tables, b"stco") or movie.child(tables, b"co64")
    if table is None:
        return []
    return _numbers(movie, table, 8, movie.number(table.body + 4, "I"), "I" if table.kind == b"stco" else "Q")


def _numbers(movie: Movie, table: Box, at: int, count: int, form: str) -> list[int]:
    length = count * struct.calcsize(f">{form}")
    if count > 3 * _MAX_ENTRIES or at + length > table.size:
        return []
    return list(struct.unpack(f">{count}{form}", movie.read(table.body + at, length)))
