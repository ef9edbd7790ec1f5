"""Files that are two things at once: what lies behind the end of an image, or makes a script or an archive of it.

A browser or a server that reads such a file as the other thing would run it from our address. Trailing bytes as such
are common and stay: a phone puts second pictures, short videos and notes of its own behind a photo.
"""

from __future__ import annotations

import re
import struct

from media.errors import MediaTypeNotAllowed

# The end record of a ZIP lies within its greatest comment of the file's end (APPNOTE.TXT 4.3.16).
ZIP_TAIL = 22 + 65_535
HEAD = 1024  # browsers sniff no further (WHATWG mimesniff)

_MARKUP = re.compile(
    rb"<(?i:script[\s>/]|html[\s>]|!doctype\s+html|iframe[\s>]|body[\s>]|svg[\s/]+[a-z:]{3,}\s*=|\?php\s)"
)
_SCRIPT = re.compile(rb"<(?i:script[\s>/]|\?php\s)|__HALT_COMPILER")
_PDF = re.compile(rb"%PDF-\d")  # readers look for it in the first kilobyte
# The patterns are long enough for twenty megabytes of compressed picture not to hold one by chance.
# As the first bytes after an image; too short to be looked for in the middle of compressed video.
_FIRST = re.compile(
    rb"MZ|\x7fELF|#!|PK\x03\x04|%PDF|Rar!|7z\xbc\xaf|\x1f\x8b\x08|BZh|\xfd7zXZ|\xca\xfe\xba\xbe|[\xce\xcf]\xfa\xed\xfe"
)
_ANYWHERE = re.compile(
    rb"%PDF-\d|Rar!\x1a\x07|7z\xbc\xaf\x27\x1c|PK\x03\x04[\x0a-\x3f]\x00|\x7fELF[\x01\x02][\x01\x02]\x01\x00"
    rb"|This program cannot be run in DOS mode"
)
_PADDING = b"\x00\xff \t\r\n"
# First bytes that JavaScript reads as a name and the start of a comment or an assignment; the size fields make it so.
_JAVASCRIPT_GIF = re.compile(rb"GIF8[79]a(?:/\*|=[ -~])")
_JAVASCRIPT_COMMENT = re.compile(rb"\xff\xd8\xff[\xe0-\xef]/\*|RIFF/\*")
_COMMENT_END = re.compile(rb"\*/\s*[=;]")


def check_image(content: bytes, end: int) -> None:
    """Refuse an image, `end` being where it ends, that is a script, a page, an archive or a program as well."""
    if _SCRIPT.search(content):
        raise MediaTypeNotAllowed("The image holds a script.")
    if _JAVASCRIPT_GIF.match(content) or (_JAVASCRIPT_COMMENT.match(content) and _COMMENT_END.search(content)):
        raise MediaTypeNotAllowed("The image is a script as well.")
    check_ends(content[:HEAD], content[-ZIP_TAIL:])
    check_tail(content[end:], "image")


def check_tail(tail: bytes, what: str) -> None:
    """Refuse a file of the kind `what` whose end is followed by `tail`, when that is a page, a program or an archive."""
    rest = tail.lstrip(_PADDING)
    if _FIRST.match(rest) or _MARKUP.search(rest) or _ANYWHERE.search(rest):
        raise MediaTypeNotAllowed(f"The {what} is followed by a file of another type.")


def check_ends(head: bytes, tail: bytes) -> None:
    """Refuse any file whose first bytes hold markup or a PDF, or whose last make it a ZIP (JAR, Office document)."""
    if _MARKUP.search(head[:HEAD]):
        raise MediaTypeNotAllowed("The file holds markup in its first bytes.")
    if _PDF.search(head, 1, HEAD):
        raise MediaTypeNotAllowed("The file is a PDF as well.")
    at = tail.rfind(b"PK\x05\x06", -ZIP_TAIL)
    if at >= 0 and _is_zip_end(tail, at):
        raise MediaTypeNotAllowed("The file is a ZIP archive as well.")


def _is_zip_end(tail: bytes, at: int) -> bool:
    """Whether it is a whole end record of an archive on one disk; four bytes alone occur in video by chance."""
    if at + 22 > len(tail):
        return False
    disk, directory_disk, entries_here, entries = struct.unpack_from("<4H", tail, at + 4)
    return disk == directory_disk and disk in (0, 0xFFFF) and entries_here == entries
