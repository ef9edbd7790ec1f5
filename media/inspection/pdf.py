"""Inspection of uploaded PDF documents (ISO 32000): checks the file structure, and refuses active content such as scripts."""

from __future__ import annotations

import itertools
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from django.utils.translation import gettext_noop

from media.errors import MediaTypeNotAllowed
from media.inspection.bounds import CpuTimeLimit, broken_file_error, truncated_file_error
from media.inspection.polyglots import (
    SNIFFED_HEAD_BYTES,
    ZIP_TAIL_BYTES,
    refuse_other_file_after_end,
    refuse_polyglot_head_or_tail,
)
from media.inspection.types import InspectedFile

_HEADER = re.compile(rb"%PDF-(?:1\.\d|2\.0)[\s%]")
_TAIL = 1024
_START = re.compile(rb"startxref\s+(\d{1,10})\s")
_OBJECT = re.compile(rb"(?<!\d)\d+\s+\d+\s+obj\b")
# Active content, which no page needs. /OpenAction is allowed: most files use it to set the zoom.
_ACTIVE = re.compile(rb"/(?:JavaScript|Launch|EmbeddedFiles?|RichMedia)(?![A-Za-z0-9])|/JS(?=[\s(<\[/>])")
# A complete action is also searched for in streams, since a cross-reference table may point into a stream.
_ACTION = re.compile(rb"/S\s*/(?:JavaScript|Launch)(?![A-Za-z0-9])")
_ESCAPED_NAME = re.compile(rb"/[^\s()<>\[\]{}/%]*#[^\s()<>\[\]{}/%]*")
_ESCAPE = re.compile(rb"#([0-9A-Fa-f]{2})")
# Comments and strings, where the names above are only text (a title "HTML/CSS/JavaScript"), and starts of streams.
_STRING = rb"\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*+\))*+\)?"  # an unterminated string is scanned only once
_STRINGS = re.compile(_STRING, re.DOTALL)
_TOKEN = re.compile(rb"%[^\r\n]*|" + _STRING + rb"|(?P<stream>>>\s*stream\r?\n)", re.DOTALL)
_CHECK_EVERY = 4096  # tokens
# Objects may be compressed in object streams (7.5.7); these are the limits on decompressed bytes.
_OBJECT_STREAM = re.compile(rb"/Type\s*/ObjStm\b")
_UNPACKED_EACH = 8 * 1024 * 1024
_UNPACKED_ALL = 64 * 1024 * 1024


def inspect_pdf(path: Path) -> InspectedFile:
    """Check a PDF's structure, refuse active content such as scripts, and return the file's kind and MIME type.

    The pages are not rendered. Raises MediaTypeNotAllowed.
    """
    content = path.read_bytes()
    if not _HEADER.match(content):
        raise broken_file_error("PDF")
    end = content.rfind(b"%%EOF")
    if end < 0 or end < len(content) - _TAIL - len(b"%%EOF"):
        raise truncated_file_error("PDF")
    _check_start(content)
    refuse_polyglot_head_or_tail(content[:SNIFFED_HEAD_BYTES], content[-ZIP_TAIL_BYTES:])
    refuse_other_file_after_end(content[end + len(b"%%EOF") :], "PDF")
    if _ACTION.search(content) or any(_is_active(part) for part in _objects(content)):
        raise MediaTypeNotAllowed(gettext_noop("The PDF holds scripts, programs or other files."))
    return InspectedFile("document", "application/pdf")


def _check_start(content: bytes) -> None:
    """Check that a PDF has the parts that every PDF reader needs: its last cross-reference table, a root and objects."""
    starts = _START.findall(content, max(0, len(content) - 2 * _TAIL))
    if not starts or not 0 < int(starts[-1]) < len(content):
        raise truncated_file_error("PDF")
    if b"/Root" not in content or not _OBJECT.search(content):
        raise broken_file_error("PDF")


def _is_active(part: bytes) -> bool:
    return _ACTIVE.search(part) is not None or any(
        _ACTIVE.match(_ESCAPE.sub(lambda escape: bytes((int(escape[1], 16),)), name) + b" ")
        for name in _ESCAPED_NAME.findall(part)
    )


def _objects(content: bytes) -> Iterator[bytes]:
    """Yield the parts of a PDF that can contain objects: everything outside of streams, and the decompressed object streams.

    Other streams are skipped, because any short name occurs in compressed data by chance.
    """
    deadline, at, unpacked, between = CpuTimeLimit(), 0, 0, bytearray()
    for count in itertools.count():
        token = _TOKEN.search(content, at)
        between += content[at : token.start() if token else len(content)] + b" "
        if token is None:
            yield bytes(between)
            return
        at = token.end()
        if count % _CHECK_EVERY == 0:
            deadline.raise_if_exceeded()
        if token["stream"] is None:
            continue
        yield bytes(between)
        at = content.find(b"endstream", token.end())
        if at < 0:
            raise truncated_file_error("PDF")
        if _OBJECT_STREAM.search(between, max(0, len(between) - _TAIL)):
            packed = _unpacked(content[token.end() : at])
            unpacked += len(packed)
            if unpacked > _UNPACKED_ALL:
                raise MediaTypeNotAllowed(gettext_noop("The PDF unpacks to more than a document needs."))
            yield _STRINGS.sub(b" ", packed)
        between = bytearray()


def _unpacked(packed: bytes) -> bytes:
    """Return the decompressed objects of a PDF object stream, or nothing if it is encrypted or not zlib-compressed."""
    unpacker = zlib.decompressobj()
    try:
        objects = unpacker.decompress(packed, _UNPACKED_EACH)
    except zlib.error:
        return b""
    if unpacker.unconsumed_tail:
        raise MediaTypeNotAllowed(gettext_noop("The PDF unpacks to more than a document needs."))
    return objects
