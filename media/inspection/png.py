"""The parser for the structure of PNG files (ISO/IEC 15948), including animated ones (APNG)."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from django.utils.translation import gettext_noop
from PIL import Image

from media.errors import MediaTypeNotAllowed
from media.inspection.bounds import (
    MAX_DECODED_PIXELS,
    CpuTimeLimit,
    broken_file_error,
    check_animation_limits,
    check_pixel_limits,
    truncated_file_error,
)
from media.inspection.types import ImageLayout

_MAX_CHUNKS = 100_000
_BLOCK = 1024 * 1024
_SLACK = 64 * 1024  # some encoders compress a few more bytes than the pixels need
# For each colour type: the number of samples in a pixel, and the allowed bit depths (table 11.1).
_COLOURS = {0: (1, {1, 2, 4, 8, 16}), 2: (3, {8, 16}), 3: (1, {1, 2, 4, 8}), 4: (2, {8, 16}), 6: (4, {8, 16})}
# The passes of an interlaced image: first column, first row, column step, row step (section 8.2).
_ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


class Chunk(NamedTuple):
    """A chunk of a PNG file, from the offset `start` to `end`, including its length and checksum."""

    kind: bytes
    start: int
    end: int

    def content_of(self, content: bytes) -> bytes:
        return content[self.start + 8 : self.end - 4]


@dataclass
class _Frame:
    width: int
    height: int
    parts: list[tuple[int, int]] = field(default_factory=list)  # (start, end) of compressed pixel data


def chunks(content: bytes) -> Iterator[Chunk]:
    """Yield a PNG file's chunks in order up to the end chunk (IEND), with verified checksums; raises MediaTypeNotAllowed."""
    at, view = 8, memoryview(content)
    for _ in range(_MAX_CHUNKS):
        if at + 12 > len(content):
            raise truncated_file_error("image")
        length, kind = struct.unpack_from(">I4s", content, at)
        end = at + 12 + length
        if not kind.isalpha():
            raise broken_file_error("image")
        if end > len(content):
            raise truncated_file_error("image")
        if zlib.crc32(view[at + 4 : end - 4]) != struct.unpack_from(">I", content, end - 4)[0]:
            raise broken_file_error("image")
        yield Chunk(kind, at, end)
        if kind == b"IEND":
            return
        at = end
    raise MediaTypeNotAllowed(f"The image has more than {_MAX_CHUNKS:,} chunks.")


def parse_png_layout(content: bytes) -> ImageLayout:
    """Parse the structure of a PNG file up to its end chunk (IEND); raises MediaTypeNotAllowed."""
    header = struct.unpack_from(">IIBBBBB", content, 16) if content[12:16] == b"IHDR" and len(content) >= 33 else None
    if header is None:
        raise truncated_file_error("image") if len(content) < 33 else broken_file_error("image")
    width, height, depth, colour, compression, filtering, interlace = header
    check_pixel_limits(width, height)
    if colour not in _COLOURS or depth not in _COLOURS[colour][1] or compression or filtering or interlace > 1:
        raise broken_file_error("image")
    still, animated, exif, end = _Frame(width, height), list[_Frame](), b"", 0
    for position, chunk in enumerate(chunks(content)):
        if (chunk.kind == b"IHDR") != (position == 0):
            raise broken_file_error("image")
        if chunk.kind == b"fcTL":
            animated.append(_read_frame(chunk.content_of(content), width, height))
            check_animation_limits(width, height, len(animated))
        elif chunk.kind == b"IDAT":
            still.parts.append((chunk.start + 8, chunk.end - 4))
        elif chunk.kind == b"fdAT" and animated:
            animated[-1].parts.append((chunk.start + 12, chunk.end - 4))
        elif chunk.kind == b"eXIf":
            exif = exif or chunk.content_of(content)
        end = chunk.end
    bits = depth * _COLOURS[colour][0]
    frames = [still, *(frame for frame in animated if frame.parts)]  # the first frame may be the still image
    return ImageLayout(
        width=width,
        height=height,
        frames=max(1, len(animated)),
        end=end,
        exif=exif,
        working_bytes=4 * width * height,
        decode=lambda: _decode(content, frames, bits, interlaced=bool(interlace)),
    )


def _read_frame(body: bytes, width: int, height: int) -> _Frame:
    if len(body) != 26:
        raise broken_file_error("image")
    _sequence, frame_width, frame_height, left, top = struct.unpack_from(">5I", body)
    if not frame_width or not frame_height or left + frame_width > width or top + frame_height > height:
        raise broken_file_error("image")
    return _Frame(frame_width, frame_height)


def _decode(content: bytes, frames: list[_Frame], bits: int, *, interlaced: bool) -> None:
    """Check a PNG's pixels: decompress the rows of each frame without storing them, then decode the first image with Pillow.

    Pillow stops reading once it has all pixels, so decompressing finds decompression bombs after them and incomplete frames.
    """
    deadline, pixels = CpuTimeLimit(), 0
    for frame in frames:
        pixels += frame.width * frame.height
        if pixels <= MAX_DECODED_PIXELS or frame is frames[0]:
            _check_packed(content, frame, _unpacked_length(frame, bits, interlaced), deadline)
    with Image.open(io.BytesIO(content), formats=["PNG"]) as image:
        image.load()


def _unpacked_length(frame: _Frame, bits: int, interlaced: bool) -> int:
    """Return the number of bytes in all rows of a PNG frame, including the filter byte before each row."""
    length = 0
    for left, top, across, down in _ADAM7 if interlaced else ((0, 0, 1, 1),):
        columns = (frame.width - left + across - 1) // across
        rows = (frame.height - top + down - 1) // down
        if columns > 0 and rows > 0:
            length += rows * (1 + (columns * bits + 7) // 8)
    return length


def _check_packed(content: bytes, frame: _Frame, expected: int, deadline: CpuTimeLimit) -> None:
    unpacker, length, view = zlib.decompressobj(), 0, memoryview(content)
    for start, end in frame.parts:
        deadline.raise_if_exceeded()
        packed: bytes | memoryview = view[start:end]
        while len(packed) and not unpacker.eof:
            length += len(unpacker.decompress(packed, _BLOCK))
            packed = unpacker.unconsumed_tail
            if length > expected + _SLACK:
                raise MediaTypeNotAllowed(gettext_noop("The image unpacks to more than its pixels."))
    if length < expected:
        raise truncated_file_error("image")
