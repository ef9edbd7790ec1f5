"""Complete videos and documents are accepted; size and duration are those of the displayed video."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from media.inspection import InspectedFile, inspect_file
from tests.media.document_files import packed_objects, pdf, stream
from tests.media.video_files import (
    QUARTER_TURN,
    SAMPLES,
    SIDES,
    UNTOLD,
    box,
    cluster,
    element,
    file_type,
    fragmented_movie,
    full,
    info,
    movie,
    movie_header,
    track,
    tracks,
    webm,
)

Write = Callable[[bytes], Path]

MP4, MOV, WEBM = "video/mp4", "video/quicktime", "video/webm"
TURNED = SIDES[::-1]
SOUND = track(handler=b"soun", entry=b"mp4a", sides=(0, 0))
LONG_MVHD = full(b"mvhd", struct.pack(">QQIQ", 0, 0, 1000, 2000), bytes(80), version=1)
LENGTH_OF_FRAGMENTS = box(b"mvex", full(b"mehd", struct.pack(">I", 7000)), full(b"trex", struct.pack(">5I", 1, 1, 0, 0, 0)))


def media_to_the_end() -> bytes:
    return file_type() + box(b"moov", movie_header(), track()) + struct.pack(">I4s", 0, b"mdat") + SAMPLES


def media_of_64_bits() -> bytes:
    start = movie().index(b"mdat") - 4
    return movie()[:start] + struct.pack(">I4sQ", 1, b"mdat", 16 + len(SAMPLES)) + movie()[start + 8 :]


def roll(degrees: float) -> bytes:
    return element(0x7670, element(0x7675, struct.pack(">f", degrees)))


VIDEOS: dict[str, tuple[Callable[[], bytes], InspectedFile]] = {
    "mp4": (movie, InspectedFile("video", MP4, *SIDES, 2000)),
    "mp4_with_sound": (lambda: movie(SOUND, track()), InspectedFile("video", MP4, *SIDES, 2000)),
    "mp4_turned": (lambda: movie(track(matrix=QUARTER_TURN)), InspectedFile("video", MP4, *TURNED, 2000)),
    "mp4_upside_down": (lambda: movie(track(matrix=(-1, 0, 0, -1))), InspectedFile("video", MP4, *SIDES, 2000)),
    "mp4_two_pictures": (lambda: movie(track(sides=(16, 16)), track()), InspectedFile("video", MP4, *SIDES, 2000)),
    "mp4_times_of_64_bits": (lambda: movie(header=LONG_MVHD), InspectedFile("video", MP4, *SIDES, 2000)),
    "mp4_media_to_the_end": (media_to_the_end, InspectedFile("video", MP4, *SIDES, 2000)),
    "mp4_media_of_64_bits": (media_of_64_bits, InspectedFile("video", MP4, *SIDES, 2000)),
    "mp4_padded": (lambda: movie(tail=bytes(100)), InspectedFile("video", MP4, *SIDES, 2000)),
    "mp4_length_in_its_track": (lambda: movie(header=movie_header(duration=0)), InspectedFile("video", MP4, *SIDES, 2000)),
    "mp4_length_not_known": (
        lambda: movie(track(duration=0), header=movie_header(duration=2**32 - 1)),
        InspectedFile("video", MP4, *SIDES, None),
    ),
    "mp4_unknown_brand": (lambda: file_type(b"abcd", b"isom") + movie()[16:], InspectedFile("video", MP4, *SIDES, 2000)),
    "mp4_fragments": (fragmented_movie, InspectedFile("video", MP4, *SIDES, 3000)),
    "mp4_fragments_with_length": (
        lambda: movie(track(sizes=(), duration=0), LENGTH_OF_FRAGMENTS, header=movie_header(duration=0)),
        InspectedFile("video", MP4, *SIDES, 7000),
    ),
    "mov": (lambda: movie(brand=b"qt  "), InspectedFile("video", MOV, *SIDES, 2000)),
    "mov_without_file_type": (lambda: box(b"wide", bytes(8)) + movie()[16:], InspectedFile("video", MOV, *SIDES, 2000)),
    "mov_user_data_ends_in_zeros": (
        lambda: movie(track(), box(b"udta", box(b"name", b"abc"), bytes(4)), brand=b"qt  "),
        InspectedFile("video", MOV, *SIDES, 2000),
    ),
    "webm": (webm, InspectedFile("video", WEBM, *SIDES, 2000)),
    "webm_turned": (
        lambda: webm(info(), tracks(projection=roll(-90)), cluster()),
        InspectedFile("video", WEBM, *TURNED, 2000),
    ),
    "webm_recorded_live": (
        lambda: webm(info(None), tracks(), *(cluster(at, size=UNTOLD) for at in (0, 1000)), size=UNTOLD),
        InspectedFile("video", WEBM, *SIDES, 1040),
    ),
    "webm_without_length": (
        lambda: webm(info(None), tracks(), cluster(), cluster(3000)),
        InspectedFile("video", WEBM, *SIDES, 3040),
    ),
    "webm_other_clock": (
        lambda: webm(info(None, scale=500_000), tracks(), cluster(3000)),
        InspectedFile("video", WEBM, *SIDES, 1520),
    ),
    "webm_void": (lambda: webm(b"\xec\x84abcd", info(), tracks(), cluster()), InspectedFile("video", WEBM, *SIDES, 2000)),
}
DOCUMENTS = {
    "plain": pdf,
    "of_version_2": lambda: pdf(header=b"%PDF-2.0\n"),
    "opens_at_a_zoom": lambda: pdf(catalog=b"/OpenAction [3 0 R /XYZ null null 1]"),
    "with_packed_page": lambda: pdf(stream(b"BT (Hello) Tj ET")),
    "with_packed_objects": lambda: pdf(packed_objects(b"4 0 << /Type /Font >>")),
    "with_packed_noise": lambda: pdf(b"<< /Length 40 >>\nstream\n\x01/JS( /JS<\x02 /Launch \x03\nendstream"),
    "words_in_a_title": lambda: pdf(b"<< /Title (From HTML/JavaScript \\( to /JS (in short) and back) >>"),
    "words_in_a_comment": lambda: pdf(b"% /JavaScript (in a comment\n<< /Title (A morning) >>"),
    "objects_not_packed_as_they_say": lambda: pdf(b"<< /Type /ObjStm >>\nstream\nencrypted\nendstream"),
    "saved_twice": lambda: pdf() + pdf(header=b"\n"),
    "a_little_behind_its_end": lambda: pdf() + b"\r\n" * 100,
}


@pytest.mark.parametrize("name", VIDEOS)
def test_a_complete_video_is_accepted(name: str, written: Write) -> None:
    build, expected = VIDEOS[name]

    assert inspect_file(written(build())) == expected


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_pdf_is_accepted(name: str, written: Write) -> None:
    assert inspect_file(written(DOCUMENTS[name]())) == InspectedFile("document", "application/pdf")


def test_deeply_nested_block_groups_are_read_without_recursion(written: Write) -> None:
    nested = b""
    for _ in range(2_000):
        nested = element(0xA0, nested)
    last = element(0x1F43B675, b"\xe7\x81\x00", nested, element(0xA3, b"\x81\x00\x28\x00", SAMPLES))

    assert inspect_file(written(webm(info(None), tracks(), last))).duration_ms == 40
