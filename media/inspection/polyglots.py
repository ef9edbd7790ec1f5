"""Detection of polyglots: media files that are also a script, a web page, an archive or a program.

A browser or server that reads such a file as the other type would run it from our domain. Other data after the end of an
image are common and allowed: phones append second pictures, short videos and their own data to photos.
"""

from __future__ import annotations

import re
import struct

from django.utils.translation import gettext_noop

from media.errors import MediaTypeNotAllowed

# The end record of a ZIP archive is followed only by its comment, of at most 65,535 bytes (APPNOTE.TXT 4.3.16).
ZIP_TAIL_BYTES = 22 + 65_535
SNIFFED_HEAD_BYTES = 1024  # browsers sniff no further (WHATWG mimesniff)

_MARKUP = re.compile(rb"<(?i:script[\s>/]|html[\s>]|!doctype\s+html|iframe[\s>]|body[\s>]|svg[\s/]+[a-z:]{3,}\s*=|\?php\s)")
_SCRIPT = re.compile(rb"<(?i:script[\s>/]|\?php\s)|__HALT_COMPILER")
_PDF = re.compile(rb"%PDF-\d")  # PDF readers search for it in the first kilobyte
# Signatures that are only compared with the first bytes after a file's end: they are too short to search for in the middle
# of compressed data.
_FIRST = re.compile(
    rb"MZ|\x7fELF|#!|PK\x03\x04|%PDF|Rar!|7z\xbc\xaf|\x1f\x8b\x08|BZh|\xfd7zXZ|\xca\xfe\xba\xbe|[\xce\xcf]\xfa\xed\xfe"
)
_ANYWHERE = re.compile(
    rb"%PDF-\d|Rar!\x1a\x07|7z\xbc\xaf\x27\x1c|PK\x03\x04[\x0a-\x3f]\x00|\x7fELF[\x01\x02][\x01\x02]\x01\x00"
    rb"|This program cannot be run in DOS mode"
)
_PADDING = b"\x00\xff \t\r\n"
# First bytes that JavaScript parses as an identifier and then a comment or an assignment, due to crafted size fields.
_JAVASCRIPT_GIF = re.compile(rb"GIF8[79]a(?:/\*|=[ -~])")
_JAVASCRIPT_COMMENT = re.compile(rb"\xff\xd8\xff[\xe0-\xef]/\*|RIFF/\*")
_COMMENT_END = re.compile(rb"\*/\s*[=;]")


def refuse_polyglot_image(content: bytes, end: int) -> None:
    """Refuse an image file that is also a script, web page, archive or program (a polyglot).

    The image ends at the offset `end`.
    """
    if _SCRIPT.search(content):
        raise MediaTypeNotAllowed(gettext_noop("The image holds a script."))
    if _JAVASCRIPT_GIF.match(content) or (_JAVASCRIPT_COMMENT.match(content) and _COMMENT_END.search(content)):
        raise MediaTypeNotAllowed(gettext_noop("The image is a script as well."))
    refuse_polyglot_head_or_tail(content[:SNIFFED_HEAD_BYTES], content[-ZIP_TAIL_BYTES:])
    refuse_other_file_after_end(content[end:], "image")


def refuse_other_file_after_end(tail: bytes, what: str) -> None:
    """Refuse a media file with a web page, a program or an archive in `tail`, the data after the end of the media.

    `what` names the file's type in the error message.
    """
    rest = tail.lstrip(_PADDING)
    if _FIRST.match(rest) or _MARKUP.search(rest) or _ANYWHERE.search(rest):
        raise MediaTypeNotAllowed(f"The {what} is followed by a file of another type.")


def refuse_polyglot_head_or_tail(head: bytes, tail: bytes) -> None:
    """Refuse a media file that contains HTML or a PDF header in its first bytes, or that ends like a ZIP archive.

    JAR files and Office documents are ZIP archives too.
    """
    if _MARKUP.search(head[:SNIFFED_HEAD_BYTES]):
        raise MediaTypeNotAllowed(gettext_noop("The file holds markup in its first bytes."))
    if _PDF.search(head, 1, SNIFFED_HEAD_BYTES):
        raise MediaTypeNotAllowed(gettext_noop("The file is a PDF as well."))
    at = tail.rfind(b"PK\x05\x06", -ZIP_TAIL_BYTES)
    if at >= 0 and _is_zip_end(tail, at):
        raise MediaTypeNotAllowed(gettext_noop("The file is a ZIP archive as well."))


def _is_zip_end(tail: bytes, at: int) -> bool:
    """Return whether the end of a media file (`tail`) contains a complete end record of a ZIP archive at offset `at`.

    The record must be that of an archive on one disk. The four bytes of the signature alone occur in video data by chance.
    """
    if at + 22 > len(tail):
        return False
    disk, directory_disk, entries_here, entries = struct.unpack_from("<4H", tail, at + 4)
    return disk == directory_disk and disk in (0, 0xFFFF) and entries_here == entries
