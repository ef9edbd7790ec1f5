"""Sniffing of an uploaded file's type from its first bytes, and names of unsupported types for error messages."""

from __future__ import annotations

import codecs
import re
import struct
from pathlib import Path

from django.utils.translation import gettext_noop

from media.errors import MediaTypeNotAllowed
from media.inspection.bounds import decompress_first_bytes

HEAD_BYTES = 16 * 1024
_TYPES = {  # by the first bytes
    b"\xff\xd8\xff": "image/jpeg",
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"%PDF-": "application/pdf",
}

# Brands of ISO base media files (registry at mp4ra.org): unsupported types with their names, then those of MP4 videos.
_REFUSED_BRANDS = {
    b"heic": "a HEIC image", b"heix": "a HEIC image", b"heim": "a HEIC image", b"heis": "a HEIC image",
    b"hevc": "a HEIC image", b"hevx": "a HEIC image", b"mif1": "a HEIF image", b"msf1": "a HEIF image",
    b"avif": "an AVIF image", b"avis": "an AVIF image", b"jp2 ": "a JPEG 2000 image", b"crx ": "a Canon raw image",
    b"M4A ": "an MPEG-4 audio file", b"M4B ": "an MPEG-4 audio book", b"M4P ": "an MPEG-4 audio file",
    b"F4A ": "an MPEG-4 audio file", b"aax ": "an audio book",
}  # fmt: skip
_MP4_BRANDS = frozenset(
    b"isom iso2 iso3 iso4 iso5 iso6 iso7 iso8 iso9 isoa isob isoc mp41 mp42 mp71 avc1 hvc1 av01 dby1 dash msdh msix"
    b" cmfc cmf2 cmfs MSNV mmp4 M4V_ M4VH M4VP f4v_ F4V_ XAVC CAEP niko".replace(b"_", b" ").split(b" ")
) | {b"M4V ", b"f4v ", b"F4V "}
# First boxes of old QuickTime files, which have no file type box (QuickTime File Format, "Movie atoms").
_OLD_QUICKTIME = (b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot")

_DOCTYPE = re.compile(rb"\x42\x82[\x81-\x9f]([a-z]+)")
_HTML = re.compile(rb"<(?:!doctype\s+html|html|head|body|script|iframe|img|div)\b")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
# Types that puremagic does not recognize, or names wrongly or too narrowly.
_SIGNATURES = (
    (b"PK\x03\x04", "a ZIP archive (or an Office document or app, which is one)"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"MZ", "a Windows program"),
    (b"\x7fELF", "a program (ELF)"),
    (b"\x00asm", "a program (WebAssembly)"),
    (b"#!", "a script"),
    (b"#EXTM3U", "a playlist"),
    (b"II*\x00", "a TIFF or raw image"),
    (b"MM\x00*", "a TIFF or raw image"),
    (b"\x00\x00\x00\x0cjP  ", "a JPEG 2000 image"),
    (b"\x00\x00\x00\x0cJXL ", "a JPEG XL image"),
    (b"\xff\x0a", "a JPEG XL image"),
)


def detect_mime_type(path: Path) -> str:
    """Return an uploaded file's MIME type by its first bytes; raises MediaTypeNotAllowed for an unsupported type.

    The error names the type. The type determines the checks and limits; `inspect_file` checks the rest.
    """
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if not head:
        raise MediaTypeNotAllowed(gettext_noop("The file is empty."))
    signed = (mime_type for signature, mime_type in _TYPES.items() if head.startswith(signature))
    mime_type = next(signed, None) or _container_type(head)
    if mime_type is None:
        raise _unsupported_type_error(head)
    return mime_type


def _container_type(head: bytes) -> str | None:
    """Return the MIME type of an uploaded file in a container format of several types, such as RIFF; None for other files.

    The others are ISO base media and EBML.
    """
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    kind = head[4:8]
    if kind == b"ftyp":
        return _type_of_brands(head)
    if kind in _OLD_QUICKTIME and head[0] < 0x20:  # text files do not begin like this
        return "video/quicktime"
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        named = _DOCTYPE.search(head, 0, 128)
        if named is not None and named[1] == b"webm":
            return "video/webm"
        raise _unsupported("a Matroska video (MKV)")
    return None


def _type_of_brands(head: bytes) -> str:
    """Return the MIME type of an MP4-like file by its brands, the format names in its header.

    The major brand is tried first, then the compatible ones. See ISO/IEC 14496-12 section 4.3.
    """
    size = struct.unpack_from(">I", head)[0]
    major = head[8:12]
    compatible = {head[at : at + 4] for at in range(16, min(size, len(head), 1024) - 3, 4)}
    if major in _REFUSED_BRANDS:
        raise _unsupported(_REFUSED_BRANDS[major])
    if major.startswith((b"3gp", b"3g2")):
        raise _unsupported("a 3GPP video")
    if major == b"qt  ":
        return "video/quicktime"
    if major in _MP4_BRANDS or compatible & _MP4_BRANDS:
        return "video/mp4"
    if b"qt  " in compatible:
        return "video/quicktime"
    for brand in sorted(compatible & set(_REFUSED_BRANDS)):
        raise _unsupported(_REFUSED_BRANDS[brand])
    raise MediaTypeNotAllowed(gettext_noop("The file is of the ISO media family, but no MP4 or MOV video."))


def _unsupported_type_error(head: bytes) -> MediaTypeNotAllowed:
    """Return the error for an upload of an unsupported type, with the most specific type name that can be found."""
    if b"%PDF-" in head[:1024]:
        return MediaTypeNotAllowed(gettext_noop("The PDF begins only after other bytes."))
    if head.startswith(b"\x1f\x8b"):
        is_svg = b"<svg" in decompress_first_bytes(head, HEAD_BYTES, wbits=31).lower()
        return _unsupported("a compressed SVG image" if is_svg else "a gzip archive")
    markup = _markup(head)
    if markup is not None:
        return _unsupported(markup)
    for signature, name in _SIGNATURES:
        if head.startswith(signature):
            return _unsupported(name)
    return _unsupported("a text") if _is_text(head) else _named_by_puremagic(head)


def _markup(head: bytes) -> str | None:
    """Return the type name of an upload that begins with markup (SVG, HTML, PHP or other XML), or None for other files.

    Byte order marks and white space before the markup are skipped; UTF-8 and UTF-16 are supported.
    """
    text = head.replace(b"\x00", b"").removeprefix(b"\xef\xbb\xbf")
    text = text.removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff").lstrip().lower()
    if not text.startswith(b"<"):
        return None
    if re.search(rb"<(?:[a-z0-9_-]+:)?svg\b", text):
        return "an SVG image, which can carry scripts"
    if _HTML.search(text):
        return "an HTML page"
    if text.startswith((b"<?php", b"<?=")):
        return "a PHP script"
    return "an XML document or other markup"


def _is_text(head: bytes) -> bool:
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head)  # the last character may be incomplete
    except UnicodeDecodeError:
        return False
    return bool(text) and not _CONTROL.search(text)


def _named_by_puremagic(head: bytes) -> MediaTypeNotAllowed:
    """Return the error for an upload of an unsupported type, with the type name that the library puremagic finds.

    A match of only one byte is ignored, because it may be chance.
    """
    import puremagic  # noqa: PLC0415 (reads its list of formats when it is imported, and few uploads need it)

    try:
        best = puremagic.magic_string(head)[0]
    except (puremagic.PureError, ValueError):
        return MediaTypeNotAllowed()
    if len(best.byte_match) < 2 or not best.name:
        return MediaTypeNotAllowed()
    return MediaTypeNotAllowed(f"The file is not of a supported media type; it looks like “{best.name}”.")


def _unsupported(name: str) -> MediaTypeNotAllowed:
    return MediaTypeNotAllowed(f"The file is {name}; that type is not taken.")
