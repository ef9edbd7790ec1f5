"""Files with bytes changed, removed or doubled at random are accepted or refused, and never raise another error."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from media.errors import MediaTypeNotAllowed
from media.inspection import inspect_file, remove_geolocation
from tests.media.document_files import packed_objects, pdf
from tests.media.image_files import (
    XMP_WITH_POSITION,
    animation,
    encoded,
    exif,
    gif,
    gif_frame,
    gif_xmp,
    iptc,
    segment,
    with_segments,
)
from tests.media.video_files import cluster, fragmented_movie, info, metadata_list, movie, tag, track, tracks, webm

POSITION = b"+52.5164+013.3777/"
WHOLE = {
    "jpeg": lambda: with_segments(encoded("JPEG", exif=exif(orientation=6)), segment(0xED, iptc(90, b"Berlin"))),
    "jpeg_progressive": lambda: encoded("JPEG", progressive=True, exif=exif()),
    "png": lambda: encoded("PNG", exif=exif()),
    "png_animated": lambda: animation("PNG"),
    "webp": lambda: encoded("WEBP", exif=exif(), xmp=XMP_WITH_POSITION),
    "webp_animated": lambda: animation("WEBP"),
    "gif": lambda: gif((1, 1), gif_xmp(XMP_WITH_POSITION), gif_frame()),
    "gif_animated": lambda: animation("GIF"),
    "mp4": lambda: movie(track(), track(handler=b"meta", entry=b"camm")),
    "mp4_fragments": fragmented_movie,
    "mov": lambda: movie(track(), metadata_list(b"com.apple.quicktime.location.ISO6709", POSITION), brand=b"qt  "),
    "webm": lambda: webm(info(None), tracks(), cluster(), tag(b"LOCATION", POSITION)),
    "pdf": lambda: pdf(packed_objects(b"4 0 << /Type /Font >>")),
}
MUTATIONS = 25


def mutated(content: bytes, chance: random.Random) -> bytes:
    """One to eight changes, most of them near the beginning, where the headers are."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(chance.choice((min(128, len(changed)), len(changed))))
        match chance.randrange(4):
            case 0:
                changed[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
            case 1:
                changed[at] ^= 1 << chance.randrange(8)
            case 2:
                changed[at : at + chance.randint(1, 40)] = b""
            case _:
                changed[at:at] = changed[at : at + chance.randint(1, 40)]
        changed = changed or bytearray(b"\x00")
    return bytes(changed)


@pytest.mark.parametrize("name", WHOLE)
def test_mutated_files_raise_no_other_error(name: str, written: Callable[[bytes], Path]) -> None:
    content, chance = WHOLE[name](), random.Random(name)
    assert inspect_file(written(content)).mime_type

    for _ in range(MUTATIONS):
        path = written(mutated(content, chance))
        with contextlib.suppress(MediaTypeNotAllowed):
            inspected = inspect_file(path)
            remove_geolocation(path, inspected.mime_type)


@pytest.mark.parametrize("name", WHOLE)
def test_no_truncated_file_is_accepted(name: str, written: Callable[[bytes], Path]) -> None:
    content = WHOLE[name]()

    for length in range(1, len(content), max(1, len(content) // 40)):
        with pytest.raises(MediaTypeNotAllowed):
            inspect_file(written(content[:length]))
