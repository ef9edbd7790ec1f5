"""Removal of geolocation metadata from images by rewriting the file; the encoded pixels are copied unchanged.

An image with geolocation anywhere loses all its EXIF, XMP and IPTC, because a thumbnail or a camera maker's note may repeat
the location; only the orientation is written again. A JPEG also loses pictures and videos after its end, whose own metadata
would include the location. A PNG loses its EXIF and the text chunks with geolocation, and a GIF the extension blocks (XMP or
comments) with geolocation, but no others. Colour profiles are preserved.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

from media.inspection import gif, jpeg, png, webp
from media.inspection.bounds import CpuTimeLimit, decompress_first_bytes
from media.inspection.image_metadata import (
    EXIF_PREFIX,
    contains_geolocation,
    exif_with_only_orientation,
    iptc_has_geolocation,
    photoshop_block_has_geolocation,
)

_EXTENDED_XMP = b"http://ns.adobe.com/xmp/extension/\x00"
_EXTENDED_XMP_HEADER = len(_EXTENDED_XMP) + 40  # the name is followed by a digest, the total length, and the offset
_PROFILE = b"ICC_PROFILE\x00"
_MAX_TEXT = 1024 * 1024  # decompressed size of a text chunk; Pillow reads no longer ones


def remove_geolocation_from_image(path: Path, mime_type: str) -> bool:
    """Rewrite an inspected image without most of its metadata if it has geolocation; returns whether it was rewritten.

    The orientation and the colour profile are kept.
    """
    cleaned = _REMOVERS[mime_type](path.read_bytes())
    if cleaned is not None:
        path.write_bytes(cleaned)
    return cleaned is not None


def _jpeg_without_geolocation(content: bytes) -> bytes | None:
    parts = list(jpeg.segments(content))
    end = parts[-1].end
    first_scan = next(part.start for part in parts if part.marker == jpeg.SOS)
    head = [part for part in parts if part.start < first_scan]
    if not _jpeg_has_geolocation(content, head) and not contains_geolocation(content[end:]):
        return None
    output, has_exif = [content[:2]], False
    for part in head:
        if part.marker == jpeg.APP1 and content.startswith(EXIF_PREFIX, part.body) and not has_exif:
            block = EXIF_PREFIX + exif_with_only_orientation(content[part.body : part.end])
            output.append(struct.pack(">BBH", 0xFF, jpeg.APP1, 2 + len(block)) + block)
            has_exif = True
        elif _shapes_pixels(content, part):
            output.append(content[part.start : part.end])
    return b"".join((*output, content[first_scan:end]))


def _jpeg_has_geolocation(content: bytes, head: list[jpeg.Segment]) -> bool:
    extended_xmp = b""  # extended XMP is split into segments of 64 kB at arbitrary places
    for part in head:
        block = content[part.body : part.end]
        if part.marker == jpeg.APP1 and block.startswith(_EXTENDED_XMP):
            extended_xmp += block[_EXTENDED_XMP_HEADER:]
        elif part.marker == jpeg.APP13:
            if photoshop_block_has_geolocation(block):
                return True
        elif jpeg.is_metadata_marker(part.marker) and not block.startswith(_PROFILE) and contains_geolocation(block):
            return True
    return contains_geolocation(extended_xmp)


def _shapes_pixels(content: bytes, part: jpeg.Segment) -> bool:
    """Return whether a JPEG segment must stay when geolocation is removed from the image, because it affects the pixels.

    These are all segments but metadata, plus those of JFIF, Adobe and colour profiles.
    """
    if part.marker == jpeg.APP2:
        return content.startswith(_PROFILE, part.body)
    if part.marker == jpeg.APP0:
        return content.startswith(b"JFIF\x00", part.body)
    return part.marker == jpeg.APP14 or not jpeg.is_metadata_marker(part.marker)


def _png_without_geolocation(content: bytes) -> bytes | None:
    parts = list(png.chunks(content))
    tail = content[parts[-1].end :]
    removed, deadline = set(), CpuTimeLimit()
    for part in parts:
        deadline.raise_if_exceeded()
        if _png_chunk_has_geolocation(part.kind, part.content_of(content)):
            removed.add(part)
    if not removed and not contains_geolocation(tail):
        return None
    exif = next((part for part in parts if part.kind == b"eXIf"), None)
    output = [content[:8]]
    for part in parts:
        if part == exif:
            output.append(_png_chunk(b"eXIf", exif_with_only_orientation(part.content_of(content))))
        elif part not in removed and part.kind != b"eXIf":
            output.append(content[part.start : part.end])
    return b"".join(output)


def _png_chunk_has_geolocation(kind: bytes, body: bytes) -> bool:
    if kind == b"eXIf":
        return contains_geolocation(body)
    if kind not in (b"tEXt", b"zTXt", b"iTXt"):
        return False
    keyword, _, rest = body.partition(b"\x00")
    text = rest
    if kind == b"zTXt":
        text = decompress_first_bytes(rest[1:], _MAX_TEXT)
    elif kind == b"iTXt":
        packed, text = rest[:1] == b"\x01", rest[2:].split(b"\x00", 2)[-1]
        text = decompress_first_bytes(text, _MAX_TEXT) if packed else text
    if keyword.startswith(b"Raw profile type"):  # ImageMagick's format for EXIF, IPTC and XMP: name, length, hex digits
        profile = _from_hexadecimal(text)
        return photoshop_block_has_geolocation(profile) or iptc_has_geolocation(profile)
    return contains_geolocation(keyword + b"=" + text)


def _from_hexadecimal(text: bytes) -> bytes:
    try:
        return bytes.fromhex("".join(text.decode("ascii").split()[2:]))
    except ValueError:
        return text


def _png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _webp_without_geolocation(content: bytes) -> bytes | None:
    end = webp.declared_file_end(content)
    parts = list(webp.chunks(content, 12, end))
    about = {part for part in parts if part.kind in (b"EXIF", b"XMP ")}
    if not any(contains_geolocation(content[part.body : part.end]) for part in about) and not contains_geolocation(
        content[end:]
    ):
        return None
    output, exif = list[bytes](), next((part for part in parts if part.kind == b"EXIF"), None)
    for part in parts:
        if part == exif:
            output.append(webp.build_chunk(b"EXIF", exif_with_only_orientation(content[part.body : part.end])))
        elif part.kind == b"VP8X":
            flags = content[part.body] & ~webp.XMP_FLAG
            output.append(webp.build_chunk(b"VP8X", bytes((flags,)) + content[part.body + 1 : part.end]))
        elif part not in about:
            output.append(content[part.start : part.next])
    return webp.build_webp_file(b"".join(output))


def _gif_without_geolocation(content: bytes) -> bytes | None:
    """Remove geolocation from a GIF image: return it without that metadata (XMP or comments), or None if it has none."""
    parts = list(gif.blocks(content))
    removed = {part for part in parts if part.kind == gif.EXTENSION and contains_geolocation(content[part.start : part.end])}
    end = parts[-1].end
    if not removed and not contains_geolocation(content[end:]):
        return None
    output = (content[part.start : part.end] for part in parts if part not in removed)
    return content[: parts[0].start] + b"".join(output)


_REMOVERS: dict[str, Callable[[bytes], bytes | None]] = {
    "image/jpeg": _jpeg_without_geolocation,
    "image/png": _png_without_geolocation,
    "image/webp": _webp_without_geolocation,
    "image/gif": _gif_without_geolocation,
}
