"""Video files generated for tests: MP4 and MOV boxes, WebM elements. Their samples cannot be decoded."""

from __future__ import annotations

import struct

SIDES = (64, 48)
UPRIGHT = (1, 0, 0, 1)
QUARTER_TURN = (0, 1, -1, 0)
SAMPLES = bytes(range(65, 129))
FIRST_SAMPLE = 16 + 8 + 8  # behind the file type box and the header of the media data


def box(kind: bytes, *parts: bytes) -> bytes:
    """An MP4 box of these parts."""
    body = b"".join(parts)
    return struct.pack(">I4s", 8 + len(body), kind) + body


def full(kind: bytes, *parts: bytes, flags: int = 0, version: int = 0) -> bytes:
    """A box with version and flags."""
    return box(kind, struct.pack(">I", version << 24 | flags), *parts)


def file_type(brand: bytes = b"isom", *compatible: bytes) -> bytes:
    """The file type box, padded so that media data start at the same offset in every movie here."""
    return box(b"ftyp", brand, struct.pack(">I", 512), *(compatible or (b"mp41", b"mp42")))


def track(
    *,
    handler: bytes = b"vide",
    entry: bytes = b"avc1",
    sides: tuple[int, int] = SIDES,
    matrix: tuple[int, int, int, int] = UPRIGHT,
    timescale: int = 1000,
    duration: int = 2000,
    offset: int = FIRST_SAMPLE,
    sizes: tuple[int, ...] = (16, 16),
    reference_flags: int = 1,
    more: bytes = b"",
) -> bytes:
    """A track with one chunk of samples at `offset` of the file."""
    a, b, c, d = (number << 16 for number in matrix)
    header = struct.pack(">5I", 0, 0, 1, 0, duration) + bytes(16) + struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)
    tables = box(
        b"stbl",
        full(b"stsd", struct.pack(">I", 1), box(entry, bytes(24), struct.pack(">HH", *sides), more, bytes(50))),
        full(b"stsc", struct.pack(">4I", 1, 1, len(sizes), 1)),
        full(b"stsz", struct.pack(f">II{len(sizes)}I", 0, len(sizes), *sizes)),
        full(b"stco", struct.pack(">II", 1, offset)),
    )
    references = box(b"dinf", full(b"dref", struct.pack(">I", 1), full(b"url ", flags=reference_flags)))
    return box(
        b"trak",
        full(b"tkhd", header, struct.pack(">II", sides[0] << 16, sides[1] << 16), flags=3),
        box(
            b"mdia",
            full(b"mdhd", struct.pack(">5I", 0, 0, timescale, duration, 0)),
            full(b"hdlr", bytes(4), handler, bytes(13)),
            box(b"minf", references, tables),
        ),
    )


def movie_header(*, timescale: int = 1000, duration: int = 2000) -> bytes:
    """The header with the movie's duration."""
    return full(b"mvhd", struct.pack(">4I", 0, 0, timescale, duration), bytes(80))


def movie(*parts: bytes, brand: bytes = b"isom", header: bytes | None = None, tail: bytes = b"") -> bytes:
    """File type, media data, and a movie box with a header and `parts` (default: one video track)."""
    start = box(b"ftyp", brand, struct.pack(">I", 512)) + box(b"free") + box(b"mdat", SAMPLES)
    return start + box(b"moov", header or movie_header(), *(parts or (track(),))) + tail


def fragmented_movie(*, samples: int = 3, header: bytes | None = None, fragments: int = 2) -> bytes:
    """A fragmented movie, each fragment with `samples` samples of half a second; the headers have no duration."""
    extension = box(b"mvex", full(b"trex", struct.pack(">5I", 1, 1, 500, 0, 0)))
    moov = box(b"moov", header or movie_header(duration=0), track(sizes=(), duration=0), extension)
    run = full(b"trun", struct.pack(">I", samples))
    fragment = box(b"moof", box(b"traf", full(b"tfhd", struct.pack(">I", 1)), run)) + box(b"mdat", SAMPLES)
    return file_type(b"iso5") + moov + fragment * fragments


def metadata_list(key: bytes, value: bytes) -> bytes:
    """A QuickTime metadata list with one entry."""
    name = box(b"mdta", key)
    entry = box(struct.pack(">I", 1), box(b"data", struct.pack(">II", 1, 0), value))
    handler = full(b"hdlr", bytes(4), b"mdta", bytes(13))
    return box(b"meta", handler, full(b"keys", struct.pack(">I", 1), name), box(b"ilst", entry))


def element(identifier: int, *parts: bytes, size: int | None = None) -> bytes:
    """An EBML element of these parts; `size` overrides the declared length."""
    body = b"".join(parts)
    length = len(body) if size is None else size
    name = identifier.to_bytes((identifier.bit_length() + 7) // 8, "big")
    return name + (1 << 56 | length).to_bytes(8, "big") + body


UNTOLD = (1 << 56) - 1  # a size that is not known


def number(identifier: int, value: int) -> bytes:
    """An element with an unsigned integer."""
    return element(identifier, value.to_bytes(4, "big"))


def ebml_header(kind: bytes = b"webm") -> bytes:
    """The EBML header, with one-byte sizes like all common writers."""
    body = b"\x42\x86\x81\x01\x42\x82" + bytes((0x80 | len(kind),)) + kind
    return b"\x1a\x45\xdf\xa3" + bytes((0x80 | len(body),)) + body


def info(seconds: float | None = 2.0, scale: int = 1_000_000) -> bytes:
    """The segment's duration in milliseconds."""
    duration = b"" if seconds is None else element(0x4489, struct.pack(">d", seconds * 1000))
    return element(0x1549A966, number(0x2AD7B1, scale), duration)


def tracks(kind: int = 1, sides: tuple[int, int] = SIDES, projection: bytes = b"") -> bytes:
    """One track; kind 1 is video, 2 is audio."""
    video = element(0xE0, number(0xB0, sides[0]), number(0xBA, sides[1]), projection)
    return element(0x1654AE6B, element(0xAE, number(0xD7, 1), number(0x83, kind), video))


def cluster(time: int = 0, *, size: int | None = None) -> bytes:
    """Two blocks, the second 40 ms after the first."""
    blocks = (element(0xA3, b"\x81", struct.pack(">hB", at, 0), SAMPLES) for at in (0, 40))
    return element(0x1F43B675, number(0xE7, time), *blocks, size=size)


def tag(name: bytes, value: bytes, *, checksum: bool = False) -> bytes:
    """A tag list with one entry."""
    entry = element(0x67C8, element(0x45A3, name), element(0x4487, value))
    return element(0x1254C367, b"\xbf\x84abcd" if checksum else b"", element(0x7373, entry))


def webm(*parts: bytes, size: int | None = None, kind: bytes = b"webm") -> bytes:
    """A file of these parts, by default one of each."""
    return ebml_header(kind) + element(0x18538067, *(parts or (info(), tracks(), cluster())), size=size)
