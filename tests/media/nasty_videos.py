"""Videos that must be refused: truncated files, and invalid boxes and elements."""

from __future__ import annotations

import struct
from collections.abc import Callable

from tests.media.video_files import (
    SAMPLES,
    UNTOLD,
    box,
    cluster,
    ebml_header,
    element,
    file_type,
    fragmented_movie,
    full,
    info,
    movie,
    movie_header,
    number,
    track,
    tracks,
    webm,
)

Nasty = tuple[str, Callable[[], bytes], str]

CUT, BROKEN, NO_VIDEO, SIDES = "video is cut off", "video is broken", "holds no video", "pixels large"
START = file_type() + box(b"mdat", SAMPLES)
WEEK = "longer than a week"


def moov_first() -> bytes:
    return file_type() + box(b"moov", movie_header(), track(offset=900)) + box(b"mdat", bytes(1000))


def nested(depth: int) -> bytes:
    inner = b""
    for _ in range(depth):
        inner = box(b"moov", inner)
    return inner


def header_only(size: int, kind: bytes = b"moov") -> bytes:
    return struct.pack(">I4s", size, kind)


def long_header(size: int) -> bytes:
    return struct.pack(">I4sQ", 1, b"moov", size)


MOVIES: list[Nasty] = [
    ("mp4_file_type_alone", file_type, "no movie box"),
    ("mp4_without_movie_box", lambda: START, "no movie box"),
    ("mp4_cut_in_movie_box", lambda: movie()[:-30], CUT),
    ("mp4_cut_in_media", lambda: movie()[:60], CUT),
    ("mp4_cut_behind_movie_box", lambda: moov_first()[:-500], CUT),
    ("mp4_fragments_cut", lambda: fragmented_movie()[:-20], CUT),
    ("mp4_without_media", lambda: file_type() + box(b"moov", movie_header(), track(offset=0)), NO_VIDEO),
    ("mp4_sound_only", lambda: movie(track(handler=b"soun", entry=b"mp4a")), NO_VIDEO),
    ("mp4_no_tracks", lambda: movie(box(b"udta")), NO_VIDEO),
    ("mp4_no_samples", lambda: movie(track(sizes=())), NO_VIDEO),
    ("mp4_samples_behind_the_end", lambda: movie(track(offset=10_000_000)), CUT),
    ("mp4_no_width", lambda: movie(track(sides=(0, 48))), SIDES),
    ("mp4_too_wide", lambda: movie(track(sides=(32_000, 48))), SIDES),
    ("mp4_stopped_clock", lambda: movie(header=movie_header(timescale=0)), BROKEN),
    ("mp4_stopped_track_clock", lambda: movie(track(timescale=0)), BROKEN),
    ("mp4_longer_than_a_week", lambda: movie(header=movie_header(duration=10**9)), WEEK),
    ("mp4_many_tracks", lambda: movie(track() * 101), "more than 100 tracks"),
    ("mp4_track_of_nothing", lambda: movie(box(b"trak")), BROKEN),
    ("mp4_track_without_tables", lambda: movie(box(b"trak", box(b"mdia", full(b"hdlr", bytes(4), b"vide")))), BROKEN),
    ("mp4_other_file_named", lambda: movie(track(reference_flags=0)), "refers to another file"),
    ("mp4_movie_box_compressed", lambda: movie(box(b"cmov", bytes(50))), "compressed"),
    ("mp4_box_size_1_alone", lambda: START + header_only(1), CUT),
    ("mp4_box_size_2", lambda: START + header_only(2) + bytes(50), BROKEN),
    ("mp4_box_size_7", lambda: START + header_only(7) + bytes(50), BROKEN),
    ("mp4_box_size_4_gigabytes", lambda: START + header_only(2**32 - 1), CUT),
    ("mp4_box_size_of_64_bits_too_large", lambda: START + long_header(2**64 - 1), CUT),
    ("mp4_box_size_of_64_bits_negative", lambda: START + long_header(2**63), CUT),
    ("mp4_box_size_of_64_bits_too_small", lambda: START + long_header(15) + bytes(50), BROKEN),
    ("mp4_box_to_the_end_holds_nothing", lambda: START + header_only(0), NO_VIDEO),
    ("mp4_child_over_its_parent", lambda: movie(header_only(5000, b"trak")), CUT),
    ("mp4_child_of_half_a_header", lambda: movie(track(), b"\x00\x00\x01"), BROKEN),
    ("mp4_deep_boxes", lambda: START + nested(5000), NO_VIDEO),
    ("mp4_empty_boxes", lambda: START + box(b"free") * 300_000, "more than 250,000 boxes"),
    ("mp4_goes_on_with_zeros", lambda: movie(tail=bytes(200_000)), "empty bytes"),
    ("mp4_zeros_then_bytes", lambda: movie(tail=bytes(20) + b"abcdefgh"), BROKEN),
    ("mp4_followed_by_text", lambda: movie(tail=b"and so on, and so on"), CUT),
    ("mp4_followed_by_zip", lambda: movie(tail=box(b"free", b"PK\x05\x06" + bytes(18))), "ZIP archive as well"),
    ("mp4_markup_in_front", lambda: box(b"ftyp", b"isom<html ><script>") + movie()[16:], "markup"),
    ("mp4_table_over_its_box", lambda: movie().replace(b"stco\0\0\0\0\0\0\0\1", b"stco\0\0\0\0\0\xff\0\1"), BROKEN),
    ("mp4_run_over_its_box", lambda: fragmented_movie().replace(b"trun\0\0\0\0", b"trun\0\0\1\0"), BROKEN),
    ("mp4_samples_without_end", lambda: fragmented_movie(samples=2**32 - 1), WEEK),
    ("mov_without_movie_box", lambda: box(b"wide") + box(b"mdat", SAMPLES), "no movie box"),
    ("mov_cut", lambda: movie(brand=b"qt  ")[:-30], CUT),
]
WEBMS: list[Nasty] = [
    ("webm_header_alone", ebml_header, CUT),
    ("webm_cut_in_cluster", lambda: webm()[:-20], CUT),
    ("webm_cut_in_header", lambda: webm()[:14], "a Matroska video|is cut off"),
    ("webm_live_cut", lambda: webm(info(), tracks(), cluster(size=UNTOLD), size=UNTOLD)[:-20], CUT),
    ("webm_of_nothing", lambda: webm(info()), NO_VIDEO),
    ("webm_without_tracks", lambda: webm(info(), cluster()), NO_VIDEO),
    ("webm_without_clusters", lambda: webm(info(), tracks()), NO_VIDEO),
    ("webm_sound_only", lambda: webm(info(), tracks(kind=2), cluster()), NO_VIDEO),
    ("webm_no_width", lambda: webm(info(), tracks(sides=(0, 48)), cluster()), SIDES),
    ("webm_too_wide", lambda: webm(info(), tracks(sides=(2**31, 48)), cluster()), SIDES),
    ("webm_longer_than_a_week", lambda: webm(info(10.0**9), tracks(), cluster()), WEEK),
    ("webm_negative_length", lambda: webm(info(-5.0), tracks(), cluster()), WEEK),
    ("webm_length_no_number", lambda: webm(info(float("nan")), tracks(), cluster()), WEEK),
    ("webm_stopped_clock", lambda: webm(info(scale=0), tracks(), cluster()), BROKEN),
    ("webm_tracks_of_untold_size", lambda: webm(info(), element(0x1654AE6B, size=UNTOLD), cluster()), BROKEN),
    ("webm_element_over_the_end", lambda: webm(info(), tracks(), element(0xEC, size=10**12)), CUT),
    ("webm_element_of_no_id", lambda: webm(info(), tracks(), bytes(50)), BROKEN),
    ("webm_number_too_long", lambda: webm(element(0x1549A966, element(0x2AD7B1, bytes(9))), tracks()), BROKEN),
    ("webm_real_of_odd_length", lambda: webm(element(0x1549A966, element(0x4489, bytes(5))), tracks()), BROKEN),
    ("webm_block_of_nothing", lambda: webm(info(None), tracks(), element(0x1F43B675, element(0xA3))), BROKEN),
    ("webm_other_element_first", lambda: ebml_header() + number(0xEC, 1), BROKEN),
    ("webm_followed_by_bytes", lambda: webm() + b"MZ and so on", "followed by other bytes"),
    ("webm_flood", lambda: webm(info(), tracks(), b"\xec\x80" * 1_100_000), "more than 1,000,000 parts"),
]
NASTY_VIDEOS: list[Nasty] = [*MOVIES, *WEBMS]
