"""Images that must be refused: decompression bombs, truncated files, and wrong sizes."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

from tests.media.image_files import (
    SIDES,
    animation,
    canvas,
    chunk,
    encoded,
    frame_control,
    gif,
    gif_extension,
    gif_frame,
    picture,
    png,
    riff,
    segment,
    webp_chunk,
    webp_frame,
    with_chunks,
    with_frame,
    with_scans,
    with_segments,
)

Nasty = tuple[str, Callable[[], bytes], str]

CUT, BROKEN, NO_PIXELS, TOO_LARGE = "is cut off", "is broken", "no pixels", "megapixels; 40 are taken"
UNPACKS, NOT_SHOWN, SCRIPT = "unpacks to more", "browsers do not show", "is a script as well"
BOMB_SIDES = (13_000, 13_000)  # 169 megapixels


def bomb(size: int) -> bytes:
    return zlib.compress(bytes(size), 9)


def without_middle(content: bytes) -> bytes:
    """An image with a valid structure and noise as its coded data."""
    half = len(content) // 2
    return content[:half] + bytes(range(60, 120)) + content[half + 60 :]


JPEG: list[Nasty] = [
    ("jpeg_marker_alone", lambda: b"\xff\xd8\xff", CUT),
    ("jpeg_start_and_end", lambda: b"\xff\xd8\xff\xd9", CUT),
    ("jpeg_cut_in_header", lambda: encoded("JPEG")[:100], CUT),
    ("jpeg_cut_in_picture", lambda: encoded("JPEG")[:-200], CUT),
    ("jpeg_cut_by_two_bytes", lambda: encoded("JPEG")[:-2], CUT),
    ("jpeg_cut_between_scans", lambda: with_scans(0)[: with_scans(0).rindex(b"\xff\xda")], CUT),
    ("jpeg_filled_up_with_zeros", lambda: encoded("JPEG")[:-300] + bytes(300), CUT),
    ("jpeg_filled_up_with_ff", lambda: b"\xff\xd8" + b"\xff" * 5000, CUT),
    ("jpeg_segment_over_the_end", lambda: with_segments(b"\xff\xd8", b"\xff\xe0\xff\xff"), CUT),
    ("jpeg_segment_of_no_length", lambda: with_segments(encoded("JPEG"), b"\xff\xe5\x00\x00"), BROKEN),
    ("jpeg_bytes_between_segments", lambda: with_segments(encoded("JPEG"), segment(0xFE, b""), b"abcd"), BROKEN),
    ("jpeg_in_jpeg_without_end", lambda: with_segments(encoded("JPEG"), b"\xff\xd8"), BROKEN),
    ("jpeg_without_scan", lambda: encoded("JPEG").split(b"\xff\xda")[0] + b"\xff\xd9", CUT),
    ("jpeg_two_frames", lambda: with_segments(encoded("JPEG"), segment(0xC0, b"\x08\0\1\0\1\1\1\x11\0")), BROKEN),
    ("jpeg_no_tables", lambda: encoded("JPEG").replace(b"\xff\xdb", b"\xff\xe4"), BROKEN),
    ("jpeg_arithmetic", lambda: with_frame(0xC9), NOT_SHOWN),
    ("jpeg_lossless", lambda: with_frame(0xC3), NOT_SHOWN),
    ("jpeg_12_bits", lambda: with_frame(0xC1, precision=12), NOT_SHOWN),
    ("jpeg_two_components", lambda: with_frame(components=2), BROKEN),
    ("jpeg_no_components", lambda: with_frame(components=0), BROKEN),
    ("jpeg_no_width", lambda: with_frame(sides=(0, 32)), NO_PIXELS),
    ("jpeg_no_height", lambda: with_frame(sides=(48, 0)), NO_PIXELS),
    ("jpeg_largest_sides", lambda: with_frame(sides=(65_535, 65_535)), TOO_LARGE),
    ("jpeg_169_megapixels", lambda: with_frame(sides=BOMB_SIDES), "169 megapixels; 40 are taken"),
    ("jpeg_one_row_too_many", lambda: with_frame(sides=(8000, 5001)), "40.1 megapixels; 40 are taken"),
    ("jpeg_many_scans", lambda: with_scans(1000), "more than 100 scans"),
    ("jpeg_many_segments", lambda: with_segments(encoded("JPEG"), segment(0xFE, b"") * 20_000), "more than 10,000"),
    ("jpeg_script_by_its_length", lambda: with_segments(encoded("JPEG"), script_segment()), SCRIPT),
    ("jpeg_php_archive", lambda: with_segments(encoded("JPEG"), segment(0xFE, b"__HALT_COMPILER();")), "a script"),
    ("jpeg_php_in_comment", lambda: with_segments(encoded("JPEG"), segment(0xFE, b"<?php eval($x);")), "a script"),
]
PNG: list[Nasty] = [
    ("png_signature_alone", lambda: b"\x89PNG\r\n\x1a\n", CUT),
    ("png_cut_in_header", lambda: encoded("PNG")[:20], CUT),
    ("png_cut_in_picture", lambda: encoded("PNG")[:200], CUT),
    ("png_cut_before_end", lambda: encoded("PNG")[:-12], CUT),
    ("png_other_chunk_first", lambda: encoded("PNG")[:8] + chunk(b"tEXt", b"a\0" + b"b" * 30), BROKEN),
    ("png_checksum_wrong", lambda: without_middle(encoded("PNG")), BROKEN),
    ("png_checksum_of_text_wrong", lambda: with_chunks(png(), chunk(b"tEXt", b"a\0b")[:-1] + b"\0"), BROKEN),
    ("png_chunk_name_no_letters", lambda: with_chunks(png(), chunk(b"12\0!")), BROKEN),
    ("png_chunk_over_the_end", lambda: with_chunks(png(), b"\xff\xff\xff\xffzTXt"), CUT),
    ("png_two_headers", lambda: with_chunks(png(), png()[8:33]), BROKEN),
    ("png_no_width", lambda: png((0, 1)), NO_PIXELS),
    ("png_largest_sides", lambda: png((2**31 - 1, 2**31 - 1)), TOO_LARGE),
    ("png_169_megapixels", lambda: png(BOMB_SIDES, rows=bytes(169_000_000)), "169 megapixels; 40 are taken"),
    ("png_unknown_colour", lambda: png(colour=5), BROKEN),
    ("png_unknown_depth", lambda: png(depth=3), BROKEN),
    ("png_unknown_interlace", lambda: png(interlace=2), BROKEN),
    ("png_unknown_filter", lambda: png(rows=b"\x09\x01\x02\x03"), BROKEN),
    ("png_rows_missing", lambda: png((1, 100)), CUT),
    ("png_no_rows", lambda: png()[:33] + chunk(b"IEND"), CUT),
    ("png_rows_not_packed", lambda: png()[:33] + chunk(b"IDAT", b"abcdefgh") + chunk(b"IEND"), BROKEN),
    ("png_packed_bomb", lambda: png(rows=bytes(64_000_000)), UNPACKS),
    ("png_text_bomb", lambda: with_chunks(png(), chunk(b"zTXt", b"a\0\0" + bomb(16_000_000))), BROKEN),
    ("png_itxt_bomb", lambda: with_chunks(png(), chunk(b"iTXt", b"a\0\1\0\0\0" + bomb(16_000_000))), BROKEN),
    ("png_profile_bomb", lambda: with_chunks(png(), chunk(b"iCCP", b"a\0\0" + bomb(16_000_000))), BROKEN),
    ("png_pdf_in_text", lambda: with_chunks(png(), chunk(b"tEXt", b"a\0%PDF-1.4 obj")), "is a PDF as well"),
    ("png_many_chunks", lambda: with_chunks(png(), chunk(b"vpAg") * 120_000), "more than 100,000 chunks"),
    ("png_many_frames", lambda: with_chunks(png(), frame_control(0, (1, 1)) * 2000), "more than 1,000 frames"),
    ("png_frame_outside", lambda: with_chunks(png(), frame_control(0, (1, 1), (1, 0))), BROKEN),
    ("png_frame_cut", lambda: with_chunks(png((8, 8), rows=bytes(200)), *short_frame()), CUT),
]
GIF: list[Nasty] = [
    ("gif_signature_alone", lambda: b"GIF89a", CUT),
    ("gif_header_alone", lambda: encoded("GIF")[:13], CUT),
    ("gif_cut_in_picture", lambda: encoded("GIF")[:-100], CUT),
    ("gif_without_end", lambda: encoded("GIF")[:-1], CUT),
    ("gif_of_nothing", lambda: gif((1, 1)), BROKEN),
    ("gif_unknown_block", lambda: gif((1, 1), b"\x99\x00\x00"), BROKEN),
    ("gif_codes_wrong", lambda: gif((1, 1), gif_frame(data=b"\x02\x02\xff\xff\x00")), BROKEN),
    ("gif_codes_too_wide", lambda: gif((1, 1), gif_frame(data=b"\x20\x02\x44\x01\x00")), BROKEN),
    ("gif_codes_missing", lambda: gif((100, 100), gif_frame((100, 100))), BROKEN),
    ("gif_no_width", lambda: gif((0, 1), gif_frame()), NO_PIXELS),
    ("gif_largest_sides", lambda: gif((65_535, 65_535), gif_frame()), TOO_LARGE),
    ("gif_frame_larger_than_it", lambda: gif((1, 1), gif_frame((65_535, 65_535))), TOO_LARGE),
    ("gif_10000_frames", lambda: gif((1, 1), gif_frame() * 10_000), "more than 1,000 frames"),
    ("gif_huge_frames", lambda: gif((6000, 6000), gif_frame() * 100), "over all its frames; 1,000 are taken"),
    ("gif_many_blocks", lambda: gif((1, 1), gif_extension(0xFE) * 20_000, gif_frame()), "more than 10,000 blocks"),
    ("gif_script_by_its_width", lambda: gif((0x2A2F, 1), gif_frame(), gif_extension(0xFE, b"*/=1;alert(1)//")), SCRIPT),
]
WEBP: list[Nasty] = [
    ("webp_header_alone", lambda: encoded("WEBP")[:12], CUT),
    ("webp_cut_in_picture", lambda: encoded("WEBP")[:-50], CUT),
    ("webp_size_too_large", lambda: b"RIFF" + struct.pack("<I", 2**32 - 1) + encoded("WEBP")[8:], CUT),
    ("webp_size_too_small", lambda: b"RIFF" + struct.pack("<I", 50) + encoded("WEBP")[8:], CUT),
    ("webp_size_of_nothing", lambda: b"RIFF" + struct.pack("<I", 0) + encoded("WEBP")[8:], CUT),
    ("webp_chunk_over_the_end", lambda: riff(canvas(SIDES), b"VP8 \xff\xff\xff\xff"), CUT),
    ("webp_of_no_picture", lambda: riff(canvas(SIDES), webp_chunk(b"EXIF", b"abcd")), BROKEN),
    ("webp_canvas_lies", lambda: riff(canvas((20, 20)), encoded("WEBP")[12:]), BROKEN),
    ("webp_largest_canvas", lambda: riff(canvas((2**24, 2**24)), encoded("WEBP")[12:]), TOO_LARGE),
    ("webp_huge_lossless", lambda: riff(webp_chunk(b"VP8L", b"\x2f\xff\xff\xff\x0f" + bytes(50))), TOO_LARGE),
    ("webp_first_partition_too_long", lambda: riff(webp_chunk(b"VP8 ", b"\xf0\xff\xff\x9d\x01\x2a\1\0\1\0")), CUT),
    ("webp_codes_wrong", lambda: without_middle(encoded("WEBP", lossless=True)), BROKEN),
    ("webp_picture_missing", lambda: riff(webp_chunk(b"VP8 ", encoded("WEBP")[20:200])), f"{CUT}|{BROKEN}"),
    ("webp_many_frames", lambda: riff(canvas((1, 1), 2), tiny_webp_frame() * 2000), "more than 1,000 frames"),
    ("webp_huge_frames", lambda: riff(canvas((6000, 6000), 2), tiny_webp_frame() * 100), "over all its frames"),
    ("webp_frame_lies", lambda: riff(canvas(SIDES, 2), webp_frame((9, 9), encoded("WEBP"))), BROKEN),
    ("webp_frame_outside", lambda: riff(canvas((20, 20), 2), webp_frame(SIDES, encoded("WEBP"))), BROKEN),
    ("webp_frame_cut", lambda: animation("WEBP")[:-100], CUT),
    ("webp_many_chunks", lambda: riff(canvas((1, 1)), webp_chunk(b"ABCD", b"") * 30_000), "more than 20,000 chunks"),
]
NASTY_IMAGES: list[Nasty] = [*JPEG, *PNG, *GIF, *WEBP]


def script_segment() -> bytes:
    """A segment whose length starts a script comment and whose end is the rest of the script."""
    script = b"*/=alert(1);/*"
    return segment(0xE0, script + bytes(0x2F2A - 2 - len(script)))


def short_frame() -> tuple[bytes, ...]:
    """An animation whose second frame has too few rows."""
    control, data = frame_control(1, (8, 8)), chunk(b"fdAT", struct.pack(">I", 2) + zlib.compress(bytes(20)))
    return chunk(b"acTL", struct.pack(">II", 2, 0)), control, data


def tiny_webp_frame() -> bytes:
    return webp_frame((1, 1), encoded("WEBP", picture(sides=(1, 1))))
