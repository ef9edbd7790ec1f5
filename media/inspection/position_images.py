"""Removal of geolocation metadata from images, by rewriting the file around its coded pixels.

An image with geolocation anywhere loses all its EXIF, XMP and IPTC, because a thumbnail or a camera maker's note may repeat
the location; only the orientation is written again. A JPEG also loses pictures and videos after its end, whose own metadata
would include the location. Colour profiles are preserved.
"""

from __future__ import annotations

import os
import shutil
import struct
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

from media.inspection import gif, jpeg, png, webp
from media.inspection.bounds import Deadline
from media.inspection.image_metadata import (
    EXIF_PREFIX,
    iptc_tells_position,
    orientation_alone,
    resources_tell_position,
    tells_position,
)

_XMP = b"http://ns.adobe.com/xap/1.0/\x00"
_MORE_XMP = b"http://ns.adobe.com/xmp/extension/\x00"
_MORE_XMP_HEADER = len(_MORE_XMP) + 40  # the name is followed by a digest, the total length, and the offset
_PROFILE = b"ICC_PROFILE\x00"
_MAX_TEXT = 1024 * 1024  # decompressed size of a text chunk; Pillow reads no longer ones


def remove_from_image(path: Path, mime_type: str) -> bool:
    """Remove the geolocation metadata from an inspected image by replacing the file; returns whether it had any."""
    cleaned = _CLEANERS[mime_type](path.read_bytes())
    if cleaned is None:
        return False
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as new:
        try:
            new.write(cleaned)
            new.close()
            shutil.copymode(path, new.name)
            os.replace(new.name, path)
        except BaseException:
            Path(new.name).unlink(missing_ok=True)
            raise
    return True


def _clean_jpeg(content: bytes) -> bytes | None:
    parts = list(jpeg.segments(content))
    end = parts[-1].end
    first_scan = next(part.start for part in parts if part.marker == jpeg.SOS)
    head = [part for part in parts if part.start < first_scan]
    if not _jpeg_tells_position(content, head) and not tells_position(content[end:]):
        return None
    kept, exif_kept = [content[:2]], False
    for part in head:
        if part.marker == jpeg.APP1 and content.startswith(EXIF_PREFIX, part.body) and not exif_kept:
            block = EXIF_PREFIX + orientation_alone(content[part.body : part.end])
            kept.append(struct.pack(">BBH", 0xFF, jpeg.APP1, 2 + len(block)) + block)
            exif_kept = True
        elif _shapes_pixels(content, part):
            kept.append(content[part.start : part.end])
    return b"".join((*kept, content[first_scan:end]))


def _jpeg_tells_position(content: bytes, head: list[jpeg.Segment]) -> bool:
    more_xmp = b""  # extended XMP is split into segments of 64 kB at arbitrary places
    for part in head:
        block = content[part.body : part.end]
        if part.marker == jpeg.APP1 and block.startswith(_MORE_XMP):
            more_xmp += block[_MORE_XMP_HEADER:]
        elif _segment_tells_position(part.marker, block):
            return True
    return tells_position(more_xmp)


def _segment_tells_position(marker: int, block: bytes) -> bool:
    if marker == jpeg.APP13:
        return resources_tell_position(block)
    return jpeg.is_metadata(marker) and not block.startswith(_PROFILE) and tells_position(block)


def _shapes_pixels(content: bytes, part: jpeg.Segment) -> bool:
    """Whether a JPEG decoder needs the segment: any segment except metadata, or a JFIF, Adobe or colour profile segment."""
    if part.marker == jpeg.APP2:
        return content.startswith(_PROFILE, part.body)
    if part.marker == jpeg.APP0:
        return content.startswith(b"JFIF\x00", part.body)
    return part.marker == jpeg.APP14 or not jpeg.is_metadata(part.marker)


def _clean_png(content: bytes) -> bytes | None:
    parts = list(png.chunks(content))
    tail = content[parts[-1].end :]
    told, deadline = set(), Deadline()
    for part in parts:
        deadline.check()
        if _png_chunk_tells_position(part.kind, part.body(content)):
            told.add(part)
    if not told and not tells_position(tail):
        return None
    exif = next((part for part in parts if part.kind == b"eXIf"), None)
    kept = [content[:8]]
    for part in parts:
        if part == exif:
            kept.append(_png_chunk(b"eXIf", orientation_alone(part.body(content))))
        elif part not in told and part.kind != b"eXIf":
            kept.append(content[part.start : part.end])
    return b"".join(kept)


def _png_chunk_tells_position(kind: bytes, body: bytes) -> bool:
    if kind == b"eXIf":
        return tells_position(body)
    if kind not in (b"tEXt", b"zTXt", b"iTXt"):
        return False
    keyword, _, rest = body.partition(b"\x00")
    text = rest
    if kind == b"zTXt":
        text = _unpacked(rest[1:])
    elif kind == b"iTXt":
        packed, text = rest[:1] == b"\x01", rest[2:].split(b"\x00", 2)[-1]
        text = _unpacked(text) if packed else text
    if keyword.startswith(b"Raw profile type"):  # ImageMagick's format for EXIF, IPTC and XMP: name, length, hex digits
        profile = _from_hexadecimal(text)
        return resources_tell_position(profile) or iptc_tells_position(profile)
    return tells_position(keyword + b"=" + text)


def _from_hexadecimal(text: bytes) -> bytes:
    try:
        return bytes.fromhex("".join(text.decode("ascii").split()[2:]))
    except ValueError:
        return text


def _unpacked(packed: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(packed, _MAX_TEXT)
    except zlib.error:
        return b""


def _png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _clean_webp(content: bytes) -> bytes | None:
    end = webp.file_end(content)
    parts = list(webp.chunks(content, 12, end))
    about = {part for part in parts if part.kind in (b"EXIF", b"XMP ")}
    if not any(tells_position(content[part.body : part.end]) for part in about) and not tells_position(content[end:]):
        return None
    kept, exif = list[bytes](), next((part for part in parts if part.kind == b"EXIF"), None)
    for part in parts:
        if part == exif:
            kept.append(webp.chunk(b"EXIF", orientation_alone(content[part.body : part.end])))
        elif part.kind == b"VP8X":
            flags = content[part.body] & ~webp.XMP_FLAG
            kept.append(webp.chunk(b"VP8X", bytes((flags,)) + content[part.body + 1 : part.end]))
        elif part not in about:
            kept.append(content[part.start : part.next])
    return webp.riff(b"".join(kept))


def _clean_gif(content: bytes) -> bytes | None:
    """A GIF without geolocation metadata, or None if it has none; only extensions (XMP, comments) contain metadata."""
    parts = list(gif.blocks(content))
    told = {part for part in parts if part.kind == gif.EXTENSION and tells_position(content[part.start : part.end])}
    end = parts[-1].end
    if not told and not tells_position(content[end:]):
        return None
    kept = [content[: parts[0].start]]
    kept += [content[part.start : part.end] for part in parts if part not in told]
    return b"".join(kept)


_CLEANERS: dict[str, Callable[[bytes], bytes | None]] = {
    "image/jpeg": _clean_jpeg,
    "image/png": _clean_png,
    "image/webp": _clean_webp,
    "image/gif": _clean_gif,
}
