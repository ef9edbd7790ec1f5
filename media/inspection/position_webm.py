"""Removal of geolocation tags from WebM videos: tags such as LOCATION become Void elements of equal length.

Tag names are those of the Matroska tag registry (matroska.org, "Tagging": RECORDING_LOCATION, COMPOSITION_LOCATION …).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from media.inspection.image_metadata import tells_position
from media.inspection.overwriting import Edit, overwrite
from media.inspection.webm import TAGS, Element, ElementFile, segment_of

_TAG, _SIMPLE_TAG, _CHECKSUM, _VOID = 0x7373, 0x67C8, 0xBF, b"\xec"
_NAME = re.compile(rb"(?i)\x45\xa3.{1,8}?[a-z._-]*(?:location|gps|latitude|longitude)", re.DOTALL)
_INSPECTED_BYTES = 1024 * 1024


def remove_from_webm(path: Path, mime_type: str) -> bool:
    """Overwrite the geolocation tags of an inspected WebM file; returns whether it had any."""
    with ElementFile(path) as file:
        segment, end = segment_of(file)
        edits = [
            edit
            for element in file.elements(segment.body, end)
            if element.id == TAGS
            for edit in _in_tags(file, element)
        ]
    return overwrite(path, edits)


def _in_tags(file: ElementFile, tags: Element) -> Iterator[Edit]:
    """Yield the edits that remove geolocation tags from a WebM Tags element, and checksums that would become wrong."""
    outer = list(file.children(tags))
    found = False
    for tag in (element for element in outer if element.id == _TAG):
        inner = list(file.children(tag))
        told = {element for element in inner if element.id == _SIMPLE_TAG and _tells_position(file, element)}
        found = found or bool(told)
        yield from (_void(element) for element in inner if element in told or (told and element.id == _CHECKSUM))
    if found:
        yield from (_void(element) for element in outer if element.id == _CHECKSUM)


def _tells_position(file: ElementFile, tag: Element) -> bool:
    file.deadline.check()
    content = file.read(tag.body, min((tag.end or tag.body) - tag.body, _INSPECTED_BYTES))
    return _NAME.search(content) is not None or tells_position(content)


def _void(element: Element) -> Edit:
    """The edit that turns a WebM element into a Void element; the size takes eight bytes if one byte is too short.

    See RFC 8794 section 4.
    """
    end = element.end or element.body
    length = end - element.start
    size = bytes((0x80 | length - 2,)) if length - 2 < 0x7F else (1 << 56 | length - 9).to_bytes(8, "big")
    return Edit(element.start, end, _VOID + size)
