"""Thumbnails of various images."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from PIL import Image, ImageCms

from tests.conftest import ApiClient
from tests.media.image_files import XMP_WITHOUT_POSITION, encoded, exif, iptc, segment, with_segments
from tests.media.thumbnails import thumbnail_of

TEAL, ORANGE, CLEAR = (0, 128, 128), (255, 165, 0), (0, 0, 0, 0)
NEAR = 12  # what JPEG and WebP lose of a colour
MEMORY = 300 * 1024 * 1024
# The bound is on what the process may add, for each image alone, to what it holds once everything is loaded.
MAKE = """
import os, resource, sys, django
django.setup()
from pathlib import Path
from media.inspection import detect_mime_type
from media.thumbnail_rendering import render_image_thumbnail_or_none
held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + int(sys.argv[1]),) * 2)
for path in Path(sys.argv[2]).iterdir():
    if os.fork():
        os.wait()
    else:
        made = render_image_thumbnail_or_none(path.read_bytes(), detect_mime_type(path))
        print(path.name, made and made.suffix, flush=True)
        os._exit(0)
"""


def plain(mode: str = "RGB", sides: tuple[int, int] = (400, 300), colour: Any = TEAL) -> Image.Image:
    image = Image.new("RGB", sides, colour)
    return image if mode == "RGB" else image.convert(mode)


def half_clear(colour: Any = TEAL) -> Image.Image:
    """An image with colour on the left half and transparency on the right."""
    image = plain("RGBA", colour=colour)
    image.paste(CLEAR, (200, 0, 400, 300))
    return image


def grey_of_16_bits() -> Image.Image:
    return Image.frombytes("I;16", (400, 300), struct.pack("<H", 0x8000) * 120_000)


def animated(form: str) -> bytes:
    return encoded(form, plain(), save_all=True, append_images=[plain(colour=ORANGE)], duration=100)


def assert_near(colour: Any, wanted: tuple[int, ...]) -> None:
    assert all(abs(one - other) <= NEAR for one, other in zip(colour, wanted, strict=True)), (colour, wanted)


def colour_at(picture: Image.Image, across: float, down: float) -> Any:
    """The colour at this position, given as fractions of the sides."""
    return picture.getpixel((int(picture.width * across), int(picture.height * down)))


@pytest.mark.parametrize(
    ("build", "middle"),
    [
        (lambda: encoded("JPEG", plain()), TEAL),
        (lambda: encoded("JPEG", plain(), progressive=True), TEAL),
        (lambda: encoded("JPEG", plain("L")), (90, 90, 90)),
        (lambda: encoded("JPEG", plain("CMYK")), TEAL),
        (lambda: encoded("PNG", plain()), TEAL),
        (lambda: encoded("PNG", plain("RGBA")), TEAL),
        (lambda: encoded("PNG", plain("P")), TEAL),
        (lambda: encoded("PNG", plain("LA")), (90, 90, 90)),
        (lambda: encoded("PNG", plain("1", colour="white")), (255, 255, 255)),
        (lambda: encoded("PNG", grey_of_16_bits(), transparency=0x80), (128, 128, 128)),
        (lambda: encoded("WEBP", plain()), TEAL),
        (lambda: encoded("GIF", plain("P")), TEAL),
        (lambda: animated("GIF"), TEAL),
        (lambda: animated("PNG"), TEAL),
        (lambda: animated("WEBP"), TEAL),
    ],
    ids=[
        *("jpeg", "jpeg_progressive", "jpeg_grey", "jpeg_cmyk", "png", "png_opaque", "png_palette", "png_grey_alpha"),
        *("png_one_bit", "png_16_bits", "webp", "gif", "gif_animated", "png_animated", "webp_animated"),
    ],
)
def test_an_opaque_image_gets_a_small_jpeg_of_its_first_frame(
    api: ApiClient, build: Callable[[], bytes], middle: tuple[int, ...]
) -> None:
    answer = thumbnail_of(api, build())

    assert (answer.status_code, answer["Content-Type"]) == (200, "image/jpeg")
    assert (answer["X-Content-Type-Options"], answer["Content-Disposition"]) == ("nosniff", 'inline; filename="bench.jpg"')
    assert (answer.picture.format, answer.picture.mode, answer.picture.size) == ("JPEG", "RGB", (320, 240))
    assert_near(colour_at(answer.picture, 0.5, 0.5), middle)


@pytest.mark.parametrize(
    "build",
    [
        lambda: encoded("PNG", half_clear()),
        lambda: encoded("PNG", half_clear().convert("P"), transparency=half_clear().convert("P").getpixel((300, 5))),
        lambda: encoded("WEBP", half_clear()),
        lambda: encoded("GIF", half_clear()),
    ],
    ids=["png", "png_palette", "webp", "gif"],
)
def test_transparency_is_preserved(api: ApiClient, build: Callable[[], bytes]) -> None:
    answer = thumbnail_of(api, build())

    assert (answer["Content-Type"], answer.picture.format, answer.picture.mode) == ("image/webp", "WEBP", "RGBA")
    assert answer["Content-Disposition"] == 'inline; filename="bench.webp"'
    assert_near(colour_at(answer.picture, 0.25, 0.5), (*TEAL, 255))
    assert colour_at(answer.picture, 0.75, 0.5)[3] == 0


@pytest.mark.parametrize(
    ("sides", "small"),
    [
        ((64, 48), (64, 48)),
        ((320, 320), (320, 320)),
        ((321, 100), (320, 100)),
        ((2000, 3000), (213, 320)),
        ((3001, 7), (320, 1)),
        ((3, 4000), (1, 320)),
    ],
)
@pytest.mark.parametrize("form", ["JPEG", "PNG"])
def test_the_longest_side_has_320_pixels_and_small_images_are_not_enlarged(
    api: ApiClient, form: str, sides: tuple[int, int], small: tuple[int, int]
) -> None:
    assert thumbnail_of(api, encoded(form, plain(sides=sides))).picture.size == small


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_exif_orientation_is_applied(api: ApiClient, form: str, orientation: int) -> None:
    upright = plain(sides=(400, 200))
    upright.paste(ORANGE, (0, 0, 200, 100))
    stored = {
        1: lambda image: image,
        2: lambda image: image.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
        3: lambda image: image.rotate(180),
        4: lambda image: image.transpose(Image.Transpose.FLIP_TOP_BOTTOM),
        5: lambda image: image.transpose(Image.Transpose.TRANSPOSE),
        6: lambda image: image.rotate(90, expand=True),
        7: lambda image: image.transpose(Image.Transpose.TRANSVERSE),
        8: lambda image: image.rotate(-90, expand=True),
    }[orientation](upright)
    picture = thumbnail_of(api, encoded(form, stored, exif=exif(orientation=orientation))).picture

    assert picture.size == (320, 160)
    assert_near(colour_at(picture, 0.25, 0.25), ORANGE)
    for across, down in ((0.75, 0.25), (0.25, 0.75), (0.75, 0.75)):
        assert_near(colour_at(picture, across, down), TEAL)


@pytest.mark.parametrize(
    "content",
    [
        with_segments(
            encoded("JPEG", plain(), exif=exif(), comment=b"A morning", icc_profile=b"a profile"),
            segment(0xED, iptc(105, b"A headline")),
            segment(0xE1, b"http://ns.adobe.com/xap/1.0/\x00" + XMP_WITHOUT_POSITION),
        ),
        encoded("WEBP", half_clear(), exif=exif(), xmp=XMP_WITHOUT_POSITION),
    ],
    ids=["jpeg", "webp"],
)
def test_thumbnails_have_no_metadata(api: ApiClient, content: bytes) -> None:
    answer = thumbnail_of(api, content)

    assert answer.picture.info.keys() & {"exif", "xmp", "photoshop", "comment", "icc_profile", "dpi"} == set()
    assert b"morning" not in answer.body


def test_a_second_photo_after_the_end_is_ignored(api: ApiClient) -> None:
    series = encoded("MPO", plain(), save_all=True, append_images=[plain(colour=ORANGE)])

    assert_near(colour_at(thumbnail_of(api, series).picture, 0.5, 0.5), TEAL)


@pytest.mark.parametrize(("form", "image"), [("JPEG", plain), ("PNG", half_clear)])
def test_colours_are_converted_from_the_colour_profile(api: ApiClient, form: str, image: Callable[..., Image.Image]) -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    exchanged = profile.replace(b"rXYZ", b"????").replace(b"bXYZ", b"rXYZ").replace(b"????", b"bXYZ")
    content = encoded(form, image(colour=(200, 0, 30)), icc_profile=exchanged)

    picture = thumbnail_of(api, content).picture
    assert_near(colour_at(picture.convert("RGB"), 0.25, 0.5), (30, 0, 200))
    assert "icc_profile" not in picture.info


@pytest.mark.parametrize("profile", [b"", b"no profile", ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()])
def test_an_invalid_colour_profile_is_ignored(api: ApiClient, profile: bytes) -> None:
    picture = thumbnail_of(api, encoded("PNG", plain(), icc_profile=profile)).picture

    assert_near(colour_at(picture, 0.5, 0.5), TEAL)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the size of the process as Linux reports it")
def test_the_largest_images_stay_within_the_memory_limit_or_get_no_thumbnail(tmp_path: Path) -> None:
    largest: dict[str, tuple[str, Image.Image, dict[str, Any]]] = {
        "jpeg": ("JPEG", plain(sides=(8000, 5000)), {"progressive": True, "subsampling": 0}),
        "png": ("PNG", plain("RGBA", (8000, 5000)), {"compress_level": 1}),
        "png_palette": ("PNG", plain("P", (8000, 5000)), {"compress_level": 1, "transparency": 0}),
        "gif": ("GIF", plain("P", (8000, 5000)), {}),
        "webp": ("WEBP", plain(sides=(4000, 4000)), {"method": 0}),
        "jpeg_of_too_much_memory": ("JPEG", plain("CMYK", (8000, 5000)), {"progressive": True}),
        "webp_of_too_much_memory": ("WEBP", plain(sides=(4200, 4200)), {"method": 0}),
    }
    for name, (form, image, options) in largest.items():
        (tmp_path / name).write_bytes(encoded(form, image, **options))
    call = [sys.executable, "-c", MAKE, str(MEMORY), str(tmp_path)]
    output = subprocess.run(call, cwd=settings.BASE_DIR, capture_output=True, text=True, check=True).stdout

    assert dict(line.split() for line in output.splitlines()) == {
        **dict.fromkeys(("jpeg", "png", "png_palette", "gif", "webp"), ".jpg"),
        **dict.fromkeys(("jpeg_of_too_much_memory", "webp_of_too_much_memory"), "None"),
    }
