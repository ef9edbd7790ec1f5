"""The parser for WebM videos (RFC 8794 EBML, RFC 9559 Matroska), which reads their video tracks and duration."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from django.utils.translation import gettext_noop

from media.errors import MediaTypeNotAllowed
from media.inspection.bounds import PartAndTimeLimitedVideoFile, broken_file_error, truncated_file_error
from media.inspection.polyglots import SNIFFED_HEAD_BYTES

EBML, SEGMENT, CLUSTER, INFO, TRACKS, TAGS = 0x1A45DFA3, 0x18538067, 0x1F43B675, 0x1549A966, 0x1654AE6B, 0x1254C367
# The elements that a segment contains; a cluster of unknown size ends where the next of these begins.
_TOP = frozenset((CLUSTER, INFO, TRACKS, TAGS, 0x114D9B74, 0x1C53BB6B, 0x1043A770, 0x1941A469, SEGMENT, EBML))
_TIMESTAMP_SCALE, _DURATION = 0x2AD7B1, 0x4489
_TRACK, _TRACK_TYPE, _VIDEO, _WIDTH, _HEIGHT = 0xAE, 0x83, 0xE0, 0xB0, 0xBA
_PROJECTION, _ROLL = 0x7670, 0x7675
_TIMESTAMP, _SIMPLE_BLOCK, _BLOCK_GROUP, _BLOCK = 0xE7, 0xA3, 0xA0, 0xA1
_IS_VIDEO = 1


class Element(NamedTuple):
    """An element (the unit of EBML data) of a WebM file, with the offsets of its id and its content.

    The id begins at `start`; the content is from `body` to `end`. `end` is None for an element of unknown size.
    """

    id: int
    start: int
    body: int
    end: int | None


class ElementFile(PartAndTimeLimitedVideoFile):
    """A WebM file that is open for reading its EBML elements."""

    MAX_PARTS = 1_000_000
    PARTS_NAME = "parts"

    def children(self, parent: Element) -> Iterator[Element]:
        """Yield the child elements of a WebM element; raises MediaTypeNotAllowed if the parent's size is unknown."""
        if parent.end is None:
            raise broken_file_error("video")
        return self.elements_between(parent.body, parent.end)

    def elements_between(self, at: int, end: int) -> Iterator[Element]:
        """Yield the WebM elements between two file offsets; an element of unknown size is followed by its child elements."""
        while at < end:
            element = self._element(at, end)
            yield element
            at = element.body if element.end is None else element.end

    def read_unsigned_integer(self, element: Element) -> int:
        """Return the value of a WebM file's element that contains an unsigned integer."""
        return int.from_bytes(self._value(element), "big")

    def read_float(self, element: Element) -> float:
        """Return the value of a WebM file's element that contains a float of four or eight bytes; 0 if it is empty."""
        value = self._value(element)
        form = {0: "", 4: ">f", 8: ">d"}.get(len(value))
        if form is None:
            raise broken_file_error("video")
        return float(struct.unpack(form, value)[0]) if form else 0.0

    def _value(self, element: Element) -> bytes:
        length = (element.end or 0) - element.body
        if not 0 <= length <= 8:
            raise broken_file_error("video")
        return self.read(element.body, length)

    def _element(self, at: int, end: int) -> Element:
        self.count_element_against_limit()
        head = self.read(at, min(12, end - at))
        width = 9 - head[0].bit_length()
        if width > 4 or len(head) <= width:
            raise broken_file_error("video")
        identifier = int.from_bytes(head[:width], "big")
        size_width = 9 - head[width].bit_length()
        if size_width > 8 or len(head) < width + size_width:
            raise broken_file_error("video")
        body = at + width + size_width
        size = int.from_bytes(head[width : width + size_width], "big") - (1 << 7 * size_width)
        if size == (1 << 7 * size_width) - 1:  # all ones: unknown size
            if identifier not in (SEGMENT, CLUSTER):
                raise broken_file_error("video")
            return Element(identifier, at, body, None)
        if body + size > end:
            raise truncated_file_error("video")
        return Element(identifier, at, body, body + size)


def find_segment_and_end(file: ElementFile) -> tuple[Element, int]:
    """Return a WebM file's segment, the element that contains the whole video, and its end offset.

    Raises MediaTypeNotAllowed if data follow the segment.
    """
    first = next(file.elements_between(0, file.size))
    if first.id != EBML or first.end is None:
        raise broken_file_error("video")
    segment = next(file.elements_between(first.end, file.size), None)
    if segment is None:
        raise truncated_file_error("video")
    if segment.id != SEGMENT:
        raise broken_file_error("video")
    end = file.size if segment.end is None else segment.end
    if file.read(end, min(file.size - end, SNIFFED_HEAD_BYTES)).strip(b"\x00"):
        raise MediaTypeNotAllowed(gettext_noop("The video is followed by other bytes."))
    return segment, end


def webm_dimensions_and_duration(path: Path) -> tuple[int, int, float]:
    """Return the width and height of a WebM file's largest video track, and the video's duration in seconds.

    The duration is 0 if the file does not state it. The size is the displayed one, in pixels. Raises MediaTypeNotAllowed.
    """
    with ElementFile(path) as file:
        segment, end = find_segment_and_end(file)
        sides: list[tuple[int, int]] = []
        calculator = _DurationCalculator(file)
        for element in file.elements_between(segment.body, end):
            if element.id == INFO:
                calculator.read_info_element(element)
            elif element.id == TRACKS:
                sides += _video_sides(file, element)
            else:
                calculator.add_element(element)
        if not sides or not calculator.clusters:
            raise MediaTypeNotAllowed(gettext_noop("The file holds no video."))
        return *max(sides, key=lambda pair: pair[0] * pair[1]), calculator.seconds()


def _video_sides(file: ElementFile, tracks: Element) -> Iterator[tuple[int, int]]:
    """Yield the displayed size of each video track in a WebM file, after its rotation.

    Phones store the rotation as the roll of a projection.
    """
    for track in (element for element in file.children(tracks) if element.id == _TRACK):
        parts = {element.id: element for element in file.children(track)}
        if _VIDEO not in parts or _TRACK_TYPE not in parts or file.read_unsigned_integer(parts[_TRACK_TYPE]) != _IS_VIDEO:
            continue
        video = {element.id: element for element in file.children(parts[_VIDEO])}
        width, height = (file.read_unsigned_integer(video[side]) if side in video else 0 for side in (_WIDTH, _HEIGHT))
        projection = {part.id: part for part in file.children(video[_PROJECTION])} if _PROJECTION in video else {}
        roll = file.read_float(projection[_ROLL]) if _ROLL in projection else 0.0
        yield (height, width) if abs(roll) == 90 else (width, height)


class _DurationCalculator:
    """The calculation of a WebM video's duration, from the file's header or else the timestamps of its last cluster."""

    def __init__(self, file: ElementFile) -> None:
        self.file = file
        self.scale = 1_000_000  # nanoseconds in a unit
        self.stated = 0.0
        self.clusters = 0
        self.last_closed: Element | None = None
        self.cluster_time = 0
        self.latest = 0

    def read_info_element(self, info: Element) -> None:
        for element in self.file.children(info):
            if element.id == _TIMESTAMP_SCALE:
                self.scale = self.file.read_unsigned_integer(element)
            elif element.id == _DURATION:
                self.stated = self.file.read_float(element)
        if not self.scale:
            raise broken_file_error("video")

    def add_element(self, element: Element) -> None:
        """Include a cluster (a group of frames) in the calculation of a WebM video's duration.

        For a cluster of unknown size, this is called for each element inside as well.
        """
        if element.id == CLUSTER:
            self.clusters += 1
            self.last_closed = element if element.end is not None else None
        elif element.id not in _TOP:
            self._read_part(element)

    def seconds(self) -> float:
        if self.stated:
            return self.stated * self.scale / 1e9
        if self.last_closed is not None:
            for part in self.file.children(self.last_closed):
                self._read_part(part)
        return self.latest * self.scale / 1e9

    def _read_part(self, part: Element) -> None:
        if part.id == _TIMESTAMP:
            self.cluster_time = self.file.read_unsigned_integer(part)
        elif part.id == _BLOCK_GROUP:
            for child in self.file.children(part):
                if child.id == _BLOCK:
                    self._read_block(child)
        elif part.id in (_SIMPLE_BLOCK, _BLOCK):
            self._read_block(part)

    def _read_block(self, block: Element) -> None:
        head = self.file.read(block.body, min(11, (block.end or block.body) - block.body))
        width = 9 - head[0].bit_length() if head else 9  # length of the track number before the timestamp
        if len(head) < width + 2 or width > 8:
            raise broken_file_error("video")
        offset = int.from_bytes(head[width : width + 2], "big", signed=True)
        self.latest = max(self.latest, self.cluster_time + offset)
