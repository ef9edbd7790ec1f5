"""The parser for the structure of GIF files (GIF89a specification)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

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

EXTENSION, _IMAGE, _TRAILER = 0x21, 0x2C, 0x3B
_MAX_BLOCKS = 10_000
_CHECK_EVERY = 4096  # sub-blocks


class Block(NamedTuple):
    """A block of a GIF file, such as an image or an extension, from the offset `start` to `end`.

    `data` is the offset of an image's first sub-block.
    """

    kind: int
    start: int
    data: int
    end: int


def blocks(content: bytes) -> Iterator[Block]:
    """Yield the blocks of a GIF file after the global colour table, up to the trailer; raises MediaTypeNotAllowed."""
    if len(content) < 13:
        raise truncated_file_error("image")
    at, deadline = 13 + _colours(content[10]), CpuTimeLimit()
    for _ in range(_MAX_BLOCKS):
        if at + 2 > len(content) and content[at : at + 1] != bytes((_TRAILER,)):
            raise truncated_file_error("image")
        kind, data = content[at], at + 2
        if kind == _TRAILER:
            yield Block(kind, at, at + 1, at + 1)
            return
        if kind == _IMAGE:
            if at + 11 > len(content):
                raise truncated_file_error("image")
            data = at + 11 + _colours(content[at + 9])
        elif kind != EXTENSION:
            raise broken_file_error("image")
        end = _after_sub_blocks(content, data, deadline)
        yield Block(kind, at, data, end)
        at = end
    raise MediaTypeNotAllowed(f"The image has more than {_MAX_BLOCKS:,} blocks.")


def _colours(packed: int) -> int:
    """Return the size in bytes of a GIF colour table, from the packed flags that describe the table; 0 if there is none."""
    return 3 << ((packed & 7) + 1) if packed & 0x80 else 0


def _after_sub_blocks(content: bytes, at: int, deadline: CpuTimeLimit) -> int:
    count = 0
    while at < len(content):
        length = content[at]
        at += 1 + length
        if not length:
            return at
        count += 1
        if count % _CHECK_EVERY == 0:
            deadline.raise_if_exceeded()
    raise truncated_file_error("image")


def parse_gif_layout(content: bytes) -> ImageLayout:
    """Parse the structure of a GIF file up to its trailer; raises MediaTypeNotAllowed."""
    if len(content) < 13:
        raise truncated_file_error("image")
    width, height = struct.unpack_from("<HH", content, 6)
    check_pixel_limits(width, height)
    frames, end = list[Block](), 0
    for block in blocks(content):
        if block.kind == _IMAGE:
            frames.append(block)
            left, top, frame_width, frame_height = struct.unpack_from("<4H", content, block.start + 1)
            check_pixel_limits(left + frame_width, top + frame_height)
            check_animation_limits(width, height, len(frames))
        end = block.end
    if not frames:
        raise broken_file_error("image")
    largest = max(_pixels(content, frame) for frame in frames)
    return ImageLayout(width, height, len(frames), end, b"", largest, lambda: _decode(content, frames))


def _pixels(content: bytes, frame: Block) -> int:
    width, height = struct.unpack_from("<HH", content, frame.start + 5)
    return int(width * height)


def _decode(content: bytes, frames: list[Block]) -> None:
    """Decode a GIF's frames one at a time to check them, because decoding the whole GIF would need more memory."""
    deadline, pixels = CpuTimeLimit(), 0
    for frame in frames:
        pixels += _pixels(content, frame)
        if pixels > MAX_DECODED_PIXELS and frame is not frames[0]:
            return
        deadline.raise_if_exceeded()
        width, height, packed = struct.unpack_from("<HHB", content, frame.start + 5)
        bits, interlaced = content[frame.data - 1], bool(packed & 0x40)
        Image.frombytes("P", (width, height), content[frame.data : frame.end], "gif", bits, interlaced, -1)
