"""The reader of boxes in MP4 and QuickTime files (ISO base media file format, ISO/IEC 14496-12 section 4.2)."""

from __future__ import annotations

import array
import struct
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from django.utils.translation import gettext_noop

from media.errors import MediaTypeNotAllowed
from media.inspection.bounds import PartAndTimeLimitedVideoFile, broken_file_error, truncated_file_error

MAX_NUMBERS = 4_000_000  # in one table of an MP4 file
_PADDING = 64 * 1024


class Box(NamedTuple):
    """A box (a typed block of data) of an MP4 or QuickTime file, with the offsets of its header and its content.

    The header begins at `start`; the content is from `body` to `end`.
    """

    kind: bytes
    start: int
    body: int
    end: int

    @property
    def content_size(self) -> int:
        return self.end - self.body


def group_boxes_by_type(boxes: Iterable[Box]) -> defaultdict[bytes, list[Box]]:
    """Group MP4 boxes by their box type; returns a dict of lists."""
    groups: defaultdict[bytes, list[Box]] = defaultdict(list)
    for box in boxes:
        groups[box.kind].append(box)
    return groups


class BoxFile(PartAndTimeLimitedVideoFile):
    """An MP4 or QuickTime file that is open for reading its boxes."""

    MAX_PARTS = 250_000
    PARTS_NAME = "boxes"

    def top_level_boxes(self) -> Iterator[Box]:
        """Yield the top-level boxes of an MP4 file."""
        return self._boxes(0, self.size)

    def children(self, parent: Box, skip: int = 0) -> Iterator[Box]:
        """Yield the MP4 boxes inside a parent box, after the first `skip` bytes of its content."""
        return self._boxes(parent.body + skip, parent.end)

    def find_descendant(self, parent: Box, *path: bytes) -> Box | None:
        """Return the first MP4 box found along a path of box types, such as `mdia`, `hdlr`, below a parent box.

        Returns None if there is none.
        """
        found: Box | None = parent
        for kind in path:
            if found is None:
                return None
            found = next((box for box in self.children(found) if box.kind == kind), None)
        return found

    def read_content_beginning(self, box: Box, length: int) -> bytes:
        """Return the first `length` bytes of an MP4 box's content."""
        if length > box.content_size:
            raise broken_file_error("video")
        return self.read(box.body, length)

    def unpack_numbers(self, box: Box, codes: str, at: int = 0) -> tuple[int, ...]:
        """Return the big-endian numbers at byte `at` of an MP4 box's content; `codes` is a format for `struct`."""
        length = struct.calcsize(f">{codes}")
        if at + length > box.content_size:
            raise broken_file_error("video")
        return struct.unpack(f">{codes}", self.read(box.body + at, length))

    def read_number_array(self, box: Box, code: str, count: int, at: int = 8) -> array.array[int]:
        """Return the `count` numbers at byte `at` of an MP4 box's content; `code` is a type code for `array.array`."""
        entries: array.array[int] = array.array(code)
        if count > MAX_NUMBERS or at + count * entries.itemsize > box.content_size:
            raise broken_file_error("video")
        entries.frombytes(self.read(box.body + at, count * entries.itemsize))
        if sys.byteorder == "little":
            entries.byteswap()
        return entries

    def read_box_version(self, box: Box) -> int:
        """Return the version of an MP4 box, which determines how wide its fields are (14496-12 section 4.2.2)."""
        return self.read_content_beginning(box, 1)[0]

    def _boxes(self, start: int, end: int) -> Iterator[Box]:
        while start < end:
            self.count_element_against_limit()
            if self._is_padding(start, end):
                return
            box = self._box(start, end)
            yield box
            start = box.end

    def _box(self, start: int, end: int) -> Box:
        if start + 8 > end:
            raise broken_file_error("video")
        size, kind = struct.unpack(">I4s", self.read(start, 8))
        body = start + 8
        if size == 1:  # a 64-bit size follows the box type
            (size,) = struct.unpack(">Q", self.read(body, 8))
            body = start + 16
        elif size == 0:  # the box extends to the end of its parent
            size = end - start
        if size < body - start or kind == b"\x00\x00\x00\x00":
            raise broken_file_error("video")
        if start + size > end:
            raise truncated_file_error("video")
        return Box(kind, start, body, start + size)

    def _is_padding(self, start: int, end: int) -> bool:
        """Return whether the rest of an MP4 box is only zeros, which cameras and QuickTime write as padding."""
        rest = self.read(start, min(end - start, 16))
        if rest.strip(b"\x00"):
            return False
        if end - start > _PADDING:
            raise MediaTypeNotAllowed(gettext_noop("The video goes on with empty bytes."))
        return not self.read(start, end - start).strip(b"\x00")
