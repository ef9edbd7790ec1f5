"""Complete images are accepted, and their width and height are those of the displayed picture."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_django import Settings

from media.errors import MediaTypeNotAllowed
from media.inspection import InspectedFile, inspect_file
from tests.media.image_files import (
    SIDES,
    XMP_WITHOUT_POSITION,
    animation,
    canvas,
    chunk,
    encoded,
    exif,
    gif,
    gif_extension,
    gif_frame,
    picture,
    png,
    riff,
    segment,
    webp_chunk,
    with_chunks,
    with_segments,
)
from tests.media.video_files import movie

Write = Callable[[bytes], Path]

STILL = {
    "jpeg": lambda: encoded("JPEG"),
    "jpeg_progressive": lambda: encoded("JPEG", progressive=True),
    "jpeg_grey": lambda: encoded("JPEG", picture("L")),
    "jpeg_cmyk": lambda: encoded("JPEG", picture("CMYK")),
    "jpeg_full_chroma": lambda: encoded("JPEG", subsampling=0, quality=100),
    "jpeg_restart_markers": lambda: encoded("JPEG", restart_marker_rows=1),
    "jpeg_metadata": lambda: encoded("JPEG", exif=exif(position=False), comment=b"A comment"),
    "jpeg_long_exif": lambda: with_segments(encoded("JPEG"), segment(0xE1, b"Exif\0\0" + bytes(65_000))),
    "jpeg_exif_in_a_circle": lambda: with_segments(encoded("JPEG"), odd_exif(struct.pack("<I", 8))),
    "jpeg_exif_of_65535_entries": lambda: with_segments(encoded("JPEG"), odd_exif(b"\x00" * 4, entries=65_535)),
    "jpeg_fill_bytes": lambda: with_segments(encoded("JPEG"), b"\xff\xff\xff" + segment(0xFE, b"")),
    "png": lambda: encoded("PNG"),
    "png_alpha": lambda: encoded("PNG", picture("RGBA")),
    "png_palette": lambda: encoded("PNG", picture("P")),
    "png_one_bit": lambda: encoded("PNG", picture("1")),
    "png_16_bits": lambda: encoded("PNG", picture("I;16")),
    "png_interlaced": lambda: png(SIDES, interlace=1, rows=interlaced_rows()),
    "png_metadata": lambda: with_chunks(encoded("PNG"), chunk(b"tEXt", b"Title\0A morning"), chunk(b"eXIf", b"MM")),
    "png_animated": lambda: animation("PNG"),
    "webp_lossy": lambda: encoded("WEBP"),
    "webp_lossless": lambda: encoded("WEBP", lossless=True),
    "webp_alpha": lambda: encoded("WEBP", picture("RGBA")),
    "webp_metadata": lambda: encoded("WEBP", exif=exif(position=False), xmp=XMP_WITHOUT_POSITION),
    "webp_animated": lambda: animation("WEBP"),
    "webp_unknown_chunk": lambda: riff(canvas(SIDES), webp_chunk(b"ABCD", b"e"), encoded("WEBP")[12:]),
    "gif_still": lambda: encoded("GIF"),
    "gif_comment": lambda: gif(SIDES, gif_extension(0xFE, b"A comment"), gif_frame()),
    "gif_87": lambda: b"GIF87a" + gif(SIDES, gif_frame())[6:],
}
TYPES = {"jpeg": "image/jpeg", "png": "image/png", "webp": "image/webp", "gif": "image/gif"}
# What phones and programs leave behind an image; none of it is a file that a browser or a server would run.
TRAILERS = {
    "zeros": bytes(1000),
    "line_end": b"\r\n",
    "second_picture": encoded("JPEG"),
    "video_of_a_motion_photo": movie(),
    "maker_notes": b"\x00\x00\x21\x0aSEFHk\x00\x00\x00Image_UTC_Data1731000000000SEFT",
    "remains_of_a_cropped_picture": encoded("PNG")[40:],
}


def odd_exif(next_directory: bytes, entries: int = 1) -> bytes:
    pointer_to_itself = struct.pack("<HHII", 0x8769, 4, 1, 8)
    return segment(0xE1, b"Exif\0\0II*\0\x08\0\0\0" + struct.pack("<H", entries) + pointer_to_itself + next_directory)


def interlaced_rows() -> bytes:
    """The seven passes of an image of 48 by 32 black pixels, each row with its filter byte."""
    passes = ((6, 4), (6, 4), (12, 4), (12, 8), (24, 8), (24, 16), (48, 16))
    return b"".join(bytes(rows * (1 + 3 * columns)) for columns, rows in passes)


@pytest.mark.parametrize("name", STILL)
def test_a_complete_image_is_accepted(name: str, written: Write) -> None:
    assert inspect_file(written(STILL[name]())) == InspectedFile("image", TYPES[name.split("_")[0]], *SIDES)


@pytest.mark.parametrize(
    "content", [png(), gif((1, 1), gif_frame()), *(encoded(form, picture(sides=(1, 1))) for form in ("JPEG", "WEBP"))]
)
def test_an_image_of_one_pixel_is_accepted(content: bytes, written: Write) -> None:
    assert (inspect_file(written(content)).width, inspect_file(written(content)).height) == (1, 1)


def test_an_animated_gif_has_the_kind_gif(written: Write) -> None:
    assert inspect_file(written(animation("GIF"))) == InspectedFile("gif", "image/gif", *SIDES)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_width_and_height_are_those_displayed(form: str, orientation: int, written: Write) -> None:
    inspected = inspect_file(written(encoded(form, exif=exif(orientation=orientation))))

    assert (inspected.width, inspected.height) == (SIDES if orientation < 5 else SIDES[::-1])


@pytest.mark.parametrize("form", ["JPEG", "PNG", "GIF", "WEBP"])
@pytest.mark.parametrize("trailer", TRAILERS)
def test_data_that_phones_append_to_an_image_are_accepted(form: str, trailer: str, written: Write) -> None:
    assert (inspect_file(written(encoded(form) + TRAILERS[trailer])).width) == SIDES[0]


@pytest.mark.parametrize("form", ["JPEG", "PNG", "GIF", "WEBP"])
def test_the_setting_limits_the_number_of_pixels(form: str, written: Write, settings: Settings) -> None:
    path = written(encoded(form))

    settings.MEDIA_MAX_PIXELS = SIDES[0] * SIDES[1]
    assert inspect_file(path).kind == "image"

    settings.MEDIA_MAX_PIXELS -= 1
    with pytest.raises(MediaTypeNotAllowed, match="megapixels"):
        inspect_file(path)


@pytest.mark.parametrize("form", ["PNG", "GIF", "WEBP"])
def test_a_thousand_frames_are_accepted_and_one_more_is_refused(form: str, written: Write) -> None:
    def frames(count: int) -> bytes:
        small = [picture(sides=(2, 2)), picture(sides=(2, 2)).rotate(90)]
        images = [small[number % 2] for number in range(count)]
        return encoded(form, images[0], save_all=True, append_images=images[1:])

    assert inspect_file(written(frames(1000))).width == 2
    with pytest.raises(MediaTypeNotAllowed, match="frames"):
        inspect_file(written(frames(1001)))
