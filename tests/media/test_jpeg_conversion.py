"""Converting images to JPEG files within limits: size, orientation, transparency, depth, and which images are refused."""

from __future__ import annotations

import io
from typing import Any

import pytest
from PIL import Image

from accounts.platforms.registry import all_adapters
from media.errors import MediaTypeNotAllowed
from media.jpeg_conversion import convert_to_jpeg
from tests.media.pictures import noise

MEGABYTE = 1_000_000


def encoded(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def converted(content: bytes, mime_type: str = "image/png", **limits: Any) -> Image.Image:
    image = Image.open(io.BytesIO(convert_to_jpeg(content, mime_type, **{"max_bytes": MEGABYTE, **limits})))
    assert image.format == "JPEG"
    return image


def rounded_pixel(image: Image.Image, place: tuple[int, int]) -> list[int]:
    pixel = image.convert("RGB").getpixel(place)
    assert isinstance(pixel, tuple)
    return [round(part / 50) * 50 for part in pixel]


@pytest.mark.parametrize(("kind", "mode"), [("PNG", "RGB"), ("PNG", "P"), ("WEBP", "RGB"), ("GIF", "P"), ("JPEG", "CMYK")])
def test_every_type_and_colour_mode_becomes_a_jpeg(kind: str, mode: str) -> None:
    image = Image.new("RGB", (90, 60), (200, 100, 0)).convert(mode)

    result = converted(encoded(image, kind), f"image/{kind.lower()}")

    assert (result.mode, result.size, rounded_pixel(result, (45, 30))) == ("RGB", (90, 60), [200, 100, 0])


def test_transparent_parts_become_white() -> None:
    image = Image.new("RGBA", (90, 60), (0, 0, 0, 0))
    image.paste((200, 0, 0, 255), (0, 0, 45, 60))

    result = converted(encoded(image))

    assert (rounded_pixel(result, (10, 30)), rounded_pixel(result, (80, 30))) == ([200, 0, 0], [250, 250, 250])


def test_sixteen_bits_become_eight() -> None:
    image = Image.new("I;16", (90, 60), 0x6400)

    assert rounded_pixel(converted(encoded(image)), (45, 30)) == [100, 100, 100]


def test_the_image_stands_upright_and_has_no_metadata() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by 90 degrees
    exif[0x010F] = "Workshop camera"

    result = converted(encoded(Image.new("RGB", (90, 60)), "JPEG", exif=exif), "image/jpeg")

    assert (result.size, dict(result.getexif())) == ((60, 90), {})


@pytest.mark.parametrize("max_bytes", [400_000, 100_000, 20_000])
def test_the_file_is_as_small_as_asked(max_bytes: int) -> None:
    content = convert_to_jpeg(noise(800, 600), "image/png", max_bytes=max_bytes)

    assert max_bytes / 3 < len(content) <= max_bytes
    width, height = Image.open(io.BytesIO(content)).size
    assert abs(width / height - 800 / 600) < 0.02


def test_the_image_has_as_few_pixels_as_asked() -> None:
    assert converted(encoded(Image.new("RGB", (900, 600))), max_size=(450, 300)).size == (450, 300)
    assert converted(encoded(Image.new("RGB", (90, 60))), max_size=(450, 300)).size == (90, 60)


def test_an_animation_is_refused() -> None:
    frames = [Image.new("RGB", (64, 48), colour) for colour in ("teal", "orange")]

    with pytest.raises(MediaTypeNotAllowed, match="An animation"):
        converted(encoded(frames[0], "WEBP", save_all=True, append_images=frames[1:]), "image/webp")


def test_an_image_that_cannot_be_small_enough_is_refused() -> None:
    with pytest.raises(MediaTypeNotAllowed, match="small enough"):
        converted(encoded(Image.new("RGB", (90, 60))), max_bytes=100)


def test_every_platform_with_images_accepts_the_result() -> None:
    rules = [each.capabilities.media.images for each in all_adapters()]

    assert all(own.mime_types[0] == "image/jpeg" for own in rules if own)
