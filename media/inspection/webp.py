"""The parser for the structure of WebP files (RFC 9649)."""

from __future__ import annotations

import io
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

ALPHA_FLAG, EXIF_FLAG, XMP_FLAG = 0x10, 0x08, 0x04
_MAX_CHUNKS = 20_000
# Pillow's decoder allocates two canvases, one frame, and one copy of that frame, each with four bytes for a pixel.
BYTES_PER_PIXEL = 16


class Chunk(NamedTuple):
    """A chunk of a WebP file, from the offset `start` to `end`.

    The header begins at `start`, the content is from `body` to `end`, and the next chunk begins at `next`.
    """

    kind: bytes
    start: int
    body: int
    end: int
    next: int


class _Frame(NamedTuple):
    """A frame of a WebP file: its coded picture, and its transparency (alpha plane) if that is a separate chunk.

    The picture is a VP8 or VP8L chunk.
    """

    width: int
    height: int
    picture: Chunk
    alpha: Chunk | None


def chunks(content: bytes, at: int, end: int) -> Iterator[Chunk]:
    """Yield the WebP chunks from the offset `at` to `end`; raises MediaTypeNotAllowed if a chunk extends beyond `end`."""
    for _ in range(_MAX_CHUNKS):
        if at >= end:
            return
        if at + 8 > end:
            raise broken_file_error("image")
        kind, size = struct.unpack_from("<4sI", content, at)
        if at + 8 + size > end:
            raise truncated_file_error("image")
        following = min(at + 8 + size + size % 2, end)
        yield Chunk(kind, at, at + 8, at + 8 + size, following)
        at = following
    raise MediaTypeNotAllowed(f"The image has more than {_MAX_CHUNKS:,} chunks.")


def declared_file_end(content: bytes) -> int:
    """Return the offset at which a WebP file ends according to its header; raises MediaTypeNotAllowed if it is shorter."""
    end = 8 + int(struct.unpack_from("<I", content, 4)[0]) if len(content) >= 12 else 0
    if end > len(content) or end < 20:
        raise truncated_file_error("image")
    return end


def parse_webp_layout(content: bytes) -> ImageLayout:
    """Parse the structure of a WebP file up to the end that its header states; raises MediaTypeNotAllowed."""
    end = declared_file_end(content)
    parts = list(chunks(content, 12, end))
    if parts[0].kind == b"VP8X":
        if parts[0].end - parts[0].body < 10:
            raise broken_file_error("image")
        width, height = (_u24(content, parts[0].body + 4 + offset) + 1 for offset in (0, 3))
    else:
        width, height = _sides(content, parts[0])
    check_pixel_limits(width, height)
    animated = [part for part in parts if part.kind == b"ANMF"]
    check_animation_limits(width, height, len(animated))
    frames = [_read_frame(content, part, width, height) for part in animated]
    if not animated:
        frames.append(_frame_of(content, parts))
        if (frames[0].width, frames[0].height) != (width, height):
            raise broken_file_error("image")
    exif = next((content[part.body : part.end] for part in parts if part.kind == b"EXIF"), b"")
    largest = max(frame.width * frame.height for frame in frames)
    return ImageLayout(width, height, len(frames), end, exif, BYTES_PER_PIXEL * largest, lambda: _decode(content, frames))


def _read_frame(content: bytes, part: Chunk, width: int, height: int) -> _Frame:
    if part.end - part.body < 16:
        raise broken_file_error("image")
    left, top, across, down = (_u24(content, part.body + offset) for offset in (0, 3, 6, 9))
    frame = _frame_of(content, list(chunks(content, part.body + 16, part.end)))
    has_stated_size = (frame.width, frame.height) == (across + 1, down + 1)
    if not has_stated_size or 2 * left + frame.width > width or 2 * top + frame.height > height:
        raise broken_file_error("image")
    return frame


def _frame_of(content: bytes, parts: list[Chunk]) -> _Frame:
    picture = next((part for part in parts if part.kind in (b"VP8 ", b"VP8L")), None)
    if picture is None:
        raise broken_file_error("image")
    alpha = next((part for part in parts if part.kind == b"ALPH"), None)
    return _Frame(*_sides(content, picture), picture, alpha if picture.kind == b"VP8 " else None)


def _sides(content: bytes, picture: Chunk) -> tuple[int, int]:
    """Return the width and height that the VP8 or VP8L header of a WebP frame states.

    See RFC 6386 section 9.1 and RFC 9649 section 3.4.
    """
    at, size = picture.body, picture.end - picture.body
    if picture.kind == b"VP8L" and size >= 5 and content[at] == 0x2F:
        (bits,) = struct.unpack_from("<I", content, at + 1)
        sides = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    elif picture.kind == b"VP8 " and size >= 10 and content[at + 3 : at + 6] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", content, at + 6)
        sides = width & 0x3FFF, height & 0x3FFF
        if _u24(content, at) >> 5 > size - 10:  # the length of the first partition
            raise truncated_file_error("image")
    else:
        raise broken_file_error("image")
    check_pixel_limits(*sides)
    return sides


def _decode(content: bytes, frames: list[_Frame]) -> None:
    """Decode a WebP's frames one at a time to check them, because Pillow would hold several full pictures in memory."""
    deadline, pixels = CpuTimeLimit(), 0
    for frame in frames:
        pixels += frame.width * frame.height
        if pixels > MAX_DECODED_PIXELS and frame is not frames[0]:
            return
        deadline.raise_if_exceeded()
        with Image.open(io.BytesIO(_still(content, frame)), formats=["WEBP"]) as image:
            image.load()


def _still(content: bytes, frame: _Frame) -> bytes:
    """Return the bytes of a new WebP file that contains only one frame of an image or animation."""
    body = b""
    if frame.alpha is not None:
        sides = (frame.width - 1).to_bytes(3, "little") + (frame.height - 1).to_bytes(3, "little")
        body = build_chunk(b"VP8X", bytes((ALPHA_FLAG, 0, 0, 0)) + sides)
        body += build_chunk(b"ALPH", content[frame.alpha.body : frame.alpha.end])
    body += build_chunk(frame.picture.kind, content[frame.picture.body : frame.picture.end])
    return build_webp_file(body)


def build_chunk(kind: bytes, body: bytes) -> bytes:
    """Return the bytes of a new WebP chunk, padded to an even length."""
    return kind + struct.pack("<I", len(body)) + body + b"\x00" * (len(body) % 2)


def build_webp_file(body: bytes) -> bytes:
    """Return the bytes of a new WebP file that consists of the given chunks (`body`)."""
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + body


def _u24(content: bytes, at: int) -> int:
    return int.from_bytes(content[at : at + 3], "little")
