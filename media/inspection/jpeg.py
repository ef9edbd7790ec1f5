"""The parser for the structure of JPEG files (ITU-T T.81 annex B)."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from django.utils.translation import gettext_noop
from PIL.JpegImagePlugin import JpegImageFile

from media.errors import MediaTypeNotAllowed
from media.inspection.bounds import broken_file_error, check_pixel_limits, truncated_file_error
from media.inspection.image_metadata import EXIF_PREFIX
from media.inspection.types import ImageLayout

APP0, APP1, APP2, APP13, APP14, APP15, COM = 0xE0, 0xE1, 0xE2, 0xED, 0xEE, 0xEF, 0xFE
_SOI, _EOI, SOS = 0xD8, 0xD9, 0xDA
_STANDALONE = frozenset((0x01, *range(0xD0, 0xD8)))
_BASELINE, _EXTENDED, _PROGRESSIVE = 0xC0, 0xC1, 0xC2
# Lossless, hierarchical and arithmetic-coded JPEGs, which no browser displays.
_OTHER_FRAMES = frozenset((0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF))
_MAX_SEGMENTS = 10_000
# A scan of 10 bytes can make a decoder process all pixels: 30 ms for 40 megapixels. Encoders write about ten scans.
_MAX_SCANS = 100

_MARKER = re.compile(rb"\xff+([^\x00\xff])", re.DOTALL)
_AFTER_SCAN = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]", re.DOTALL)


class Segment(NamedTuple):
    """A segment of a JPEG file, from the marker at the offset `start` to `end`; its content begins at `body`.

    A scan segment includes its entropy-coded data.
    """

    marker: int
    start: int
    body: int
    end: int


@dataclass(frozen=True)
class _Frame:
    width: int
    height: int
    progressive: bool
    samplings: tuple[tuple[int, int], ...]  # sampling factors of each component: horizontal, vertical

    def memory_bytes_for_coefficients(self) -> int:
        """Return how many bytes the coefficients of a JPEG need in memory if it is progressive or in several scans.

        No pixel can be decoded before the coefficients are complete.
        """
        most_across = max(across for across, _ in self.samplings)
        most_down = max(down for _, down in self.samplings)
        samples = sum(across * down for across, down in self.samplings)
        return 2 * self.width * self.height * samples // (most_across * most_down)


def segments(content: bytes) -> Iterator[Segment]:
    """Yield the segments of a JPEG file in order, including the end marker; raises MediaTypeNotAllowed for a broken file."""
    at = 2
    for _ in range(_MAX_SEGMENTS):
        found = _MARKER.match(content, at)
        if found is None:
            raise broken_file_error("image") if content[at : at + 2].strip(b"\xff") else truncated_file_error("image")
        marker, body = found[1][0], found.end()
        if marker == _EOI:
            yield Segment(marker, at, body, body)
            return
        if marker == _SOI:
            raise broken_file_error("image")
        end = body
        if marker not in _STANDALONE:
            end, body = _segment_end(content, marker, body), body + 2
        yield Segment(marker, at, body, end)
        at = end
    raise MediaTypeNotAllowed(f"The image has more than {_MAX_SEGMENTS:,} segments.")


def _segment_end(content: bytes, marker: int, at: int) -> int:
    if at + 2 > len(content):
        raise truncated_file_error("image")
    (length,) = struct.unpack_from(">H", content, at)
    end = at + length
    if length < 2:
        raise broken_file_error("image")
    if end > len(content):
        raise truncated_file_error("image")
    if marker == SOS:
        following = _AFTER_SCAN.search(content, end)
        if following is None:
            raise truncated_file_error("image")
        end = following.start()
    return end


def parse_jpeg_size_exif_and_end(content: bytes) -> ImageLayout:
    """Parse the structure of a JPEG file up to its end marker; raises MediaTypeNotAllowed."""
    frame: _Frame | None = None
    exif, scans, end, components_in_scan, coded = b"", 0, 0, 0, list[Segment]()
    for segment in segments(content):
        if segment.marker in _OTHER_FRAMES:
            raise MediaTypeNotAllowed(
                gettext_noop("The image is a lossless or arithmetic-coded JPEG, which browsers do not show.")
            )
        if segment.marker in (_BASELINE, _EXTENDED, _PROGRESSIVE):
            if frame is not None:
                raise broken_file_error("image")
            frame = _read_frame(segment, content)
        elif segment.marker == SOS:
            scans += 1
            components_in_scan = components_in_scan or content[segment.body]
        elif segment.marker == APP1 and content.startswith(EXIF_PREFIX, segment.body):
            exif = exif or content[segment.body : segment.end]
        if not is_metadata_marker(segment.marker):
            coded.append(segment)
        end = segment.end
    if frame is None or not scans:
        raise truncated_file_error("image")
    if scans > _MAX_SCANS:
        raise MediaTypeNotAllowed(f"The image has more than {_MAX_SCANS} scans.")
    buffered = frame.progressive or components_in_scan < len(frame.samplings)
    return ImageLayout(
        width=frame.width,
        height=frame.height,
        frames=1,
        end=end,
        exif=exif,
        working_bytes=frame.memory_bytes_for_coefficients() if buffered else 0,
        decode=lambda: _decode(content, coded, frame),
    )


def _read_frame(segment: Segment, content: bytes) -> _Frame:
    precision, height, width, count = struct.unpack_from(">BHHB", content, segment.body)
    if precision != 8:
        raise MediaTypeNotAllowed(f"The image is a JPEG of {precision} bits, which browsers do not show.")
    check_pixel_limits(width, height)
    table = content[segment.body + 6 : segment.body + 6 + 3 * count]
    samplings = tuple((byte >> 4, byte & 15) for byte in table[1::3])
    if len(table) != 3 * count or not count or not all(1 <= side <= 4 for pair in samplings for side in pair):
        raise broken_file_error("image")
    return _Frame(width, height, segment.marker == _PROGRESSIVE, samplings)


def is_metadata_marker(marker: int) -> bool:
    """Return whether a JPEG marker begins a segment of metadata, that is, a comment or an application segment."""
    return APP0 <= marker <= APP15 or marker == COM


def _decode(content: bytes, coded: list[Segment], frame: _Frame) -> None:
    """Decode a JPEG from its parsed segments to check it, at an eighth of its width and height to need little memory.

    Uses Pillow's JPEG class directly: `Image.open` would open a photo with a second picture after its end as a series.
    """
    picture = content[:2] + b"".join(content[segment.start : segment.end] for segment in coded)
    with JpegImageFile(io.BytesIO(picture)) as image:
        image.draft(None, (max(1, frame.width // 8), max(1, frame.height // 8)))
        image.load()
