"""Image files generated for tests, by Pillow or from segments, chunks and blocks."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

from PIL import Image

SIDES = (48, 32)
XMP_WITH_POSITION = (
    b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF><rdf:Description exif:GPSLatitude="52,31.0N"'
    b' exif:GPSLongitude="13,22.6E"/></rdf:RDF></x:xmpmeta>'
)
XMP_WITHOUT_POSITION = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF dc:title="A morning"/></x:xmpmeta>'


def picture(mode: str = "RGB", sides: tuple[int, int] = SIDES) -> Image.Image:
    """An image with a deterministic colour per pixel."""
    width, height = sides
    image = Image.frombytes("RGB", sides, bytes((7 * at * at // 5) % 256 for at in range(3 * width * height)))
    if mode == "I;16":
        return Image.frombytes(mode, sides, bytes(at % 251 for at in range(2 * width * height)))
    return image.convert(mode)


def encoded(form: str, image: Image.Image | None = None, **options: Any) -> bytes:
    """The file that Pillow writes for the image."""
    file = io.BytesIO()
    (image or picture("P" if form == "GIF" else "RGB")).save(file, form, **options)
    return file.getvalue()


def animation(form: str, frames: int = 3, **options: Any) -> bytes:
    """Distinct frames, because Pillow merges equal ones."""
    images = [picture().rotate(90 * number) for number in range(frames)]
    return encoded(form, images[0], save_all=True, append_images=images[1:], duration=100, **options)


def exif(*, orientation: int = 1, position: bool = True) -> bytes:
    """An EXIF block with a description and a position."""
    block = Image.Exif()
    block[0x0112] = orientation
    block[0x010E] = "A morning"
    if position:
        block.get_ifd(0x8825).update({1: "N", 2: (52.0, 31.0, 2.0), 3: "E", 4: (13.0, 22.0, 39.0)})
    return block.tobytes()


def iptc(dataset: int, value: bytes) -> bytes:
    """Photoshop image resources with one IPTC dataset."""
    record = struct.pack(">BBBH", 0x1C, 2, dataset, len(value)) + value
    return b"Photoshop 3.0\x008BIM" + struct.pack(">HHI", 0x0404, 0, len(record)) + record + b"\x00" * (len(record) % 2)


def segment(marker: int, body: bytes) -> bytes:
    """A JPEG segment."""
    return struct.pack(">BBH", 0xFF, marker, 2 + len(body)) + body


def with_segments(jpeg: bytes, *segments: bytes) -> bytes:
    """A JPEG with additional segments at its beginning."""
    return jpeg[:2] + b"".join(segments) + jpeg[2:]


def with_frame(marker: int = 0xC0, *, precision: int = 8, sides: tuple[int, int] = SIDES, components: int = 3) -> bytes:
    """A JPEG with an altered frame header."""
    jpeg = encoded("JPEG")
    at = jpeg.index(b"\xff\xc0")
    header = struct.pack(">BHHB", precision, sides[1], sides[0], components) + jpeg[at + 10 : at + 10 + 3 * components]
    return jpeg[:at] + segment(marker, header) + jpeg[at + 19 :]


def with_scans(count: int) -> bytes:
    """A progressive JPEG whose last scan is repeated."""
    jpeg = encoded("JPEG", progressive=True)
    last = jpeg[jpeg.rindex(b"\xff\xda") : -2]
    return jpeg[:-2] + last * count + jpeg[-2:]


def chunk(kind: bytes, body: bytes = b"") -> bytes:
    """A PNG chunk."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(
    sides: tuple[int, int] = (1, 1),
    *more: bytes,
    depth: int = 8,
    colour: int = 2,
    interlace: int = 0,
    rows: bytes = b"\x00\x01\x02\x03",
) -> bytes:
    """A PNG of these rows (each with its filter byte), with additional chunks before them."""
    header = struct.pack(">IIBBBBB", *sides, depth, colour, 0, 0, interlace)
    pixels = chunk(b"IDAT", zlib.compress(rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + b"".join(more) + pixels + chunk(b"IEND")


def with_chunks(content: bytes, *chunks: bytes) -> bytes:
    """A PNG with additional chunks after its header."""
    return content[:33] + b"".join(chunks) + content[33:]


def frame_control(number: int, sides: tuple[int, int], offset: tuple[int, int] = (0, 0)) -> bytes:
    """The frame header of an animated PNG."""
    return chunk(b"fcTL", struct.pack(">5IHHBB", number, *sides, *offset, 1, 10, 0, 0))


def gif(sides: tuple[int, int], *blocks: bytes, end: bytes = b";") -> bytes:
    """A two-colour GIF of these blocks."""
    return b"GIF89a" + struct.pack("<HHBBB", *sides, 0x80, 0, 0) + b"\x00\x00\x00\xff\xff\xff" + b"".join(blocks) + end


def gif_frame(sides: tuple[int, int] = (1, 1), data: bytes = b"\x02\x02\x44\x01\x00") -> bytes:
    """A GIF frame with the data of one pixel."""
    return b"," + struct.pack("<HHHHB", 0, 0, *sides, 0) + data


def gif_extension(label: int, *sub_blocks: bytes) -> bytes:
    """A GIF extension."""
    return bytes((0x21, label)) + b"".join(bytes((len(block),)) + block for block in sub_blocks) + b"\x00"


def gif_xmp(xmp: bytes) -> bytes:
    """XMP as stored in a GIF, unsplit; its trailing bytes lead any reader of sub-blocks to the end."""
    return b"\x21\xff\x0bXMP DataXMP" + xmp + b"\x01" + bytes(range(255, -1, -1)) + b"\x00"


def riff(*chunks: bytes) -> bytes:
    """A WebP of these chunks."""
    body = b"WEBP" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def webp_chunk(kind: bytes, body: bytes) -> bytes:
    """A WebP chunk."""
    return kind + struct.pack("<I", len(body)) + body + b"\x00" * (len(body) % 2)


def canvas(sides: tuple[int, int], flags: int = 0) -> bytes:
    """The header of an extended WebP."""
    return webp_chunk(b"VP8X", bytes((flags, 0, 0, 0)) + b"".join((side - 1).to_bytes(3, "little") for side in sides))


def webp_frame(sides: tuple[int, int], still: bytes) -> bytes:
    """A frame of an animated WebP, encoded like the still image `still`."""
    place = bytes(6) + b"".join((side - 1).to_bytes(3, "little") for side in sides)
    return webp_chunk(b"ANMF", place + (100).to_bytes(3, "little") + b"\x00" + still[12:])
