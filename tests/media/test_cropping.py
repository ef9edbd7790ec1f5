"""Cropping images to a ratio: what remains, for each orientation and type, and which images are refused."""

from __future__ import annotations

import io
from typing import Any

import pytest
from PIL import Image

from media.cropping import CropPosition, crop_to_ratio, format_ratio
from media.errors import MediaTypeNotAllowed
from media.thumbnail_rendering import ROTATIONS_BY_ORIENTATION

RED, GREEN, BLUE = (250, 0, 0), (0, 250, 0), (0, 0, 250)
BACK = {5: 5, 6: 8, 7: 7, 8: 6}  # the turn that undoes the turn of an orientation; the others undo themselves


def striped(width: int, height: int) -> Image.Image:
    """An image of three stripes along its longer side: red, green and blue."""
    image = Image.new("RGB", (width, height), GREEN)
    third = (width // 3, height) if width > height else (width, height // 3)
    image.paste(RED, (0, 0, *third))
    image.paste(BLUE, (width - third[0], height - third[1], width, height))
    return image


def encoded(image: Image.Image, mime_type: str = "image/png", **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, mime_type.removeprefix("image/").upper(), **options)
    return file.getvalue()


def opened(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content))


def middle_of(content: bytes) -> tuple[int, ...]:
    image = opened(content).convert("RGB")
    pixel = image.getpixel((image.width // 2, image.height // 2))
    assert isinstance(pixel, tuple)
    return tuple(250 if part > 200 else 0 for part in pixel[:3])


@pytest.mark.parametrize(("position", "colour"), [("start", RED), ("middle", GREEN), ("end", BLUE)])
@pytest.mark.parametrize(("size", "ratio", "cropped"), [((90, 600), 0.8, (90, 112)), ((600, 90), 1.911, (171, 90))])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_chosen_part_of_the_displayed_image_remains(
    size: tuple[int, int], ratio: float, cropped: tuple[int, int], position: CropPosition, colour: Any, orientation: int
) -> None:
    image = striped(*size)
    undo = ROTATIONS_BY_ORIENTATION.get(BACK.get(orientation, orientation))
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored = encoded(image.transpose(undo) if undo is not None else image, "image/jpeg", exif=exif)

    result = crop_to_ratio(stored, "image/jpeg", ratio, position)

    assert opened(result).size == cropped
    assert middle_of(result) == colour
    assert not opened(result).getexif()


@pytest.mark.parametrize("mime_type", ["image/jpeg", "image/png", "image/webp"])
def test_the_type_and_the_transparency_stay(mime_type: str) -> None:
    image = striped(300, 90)
    if mime_type != "image/jpeg":
        image.putalpha(100)

    result = opened(crop_to_ratio(encoded(image, mime_type), mime_type, 1, "middle"))

    assert Image.MIME[result.format or ""] == mime_type
    assert (result.size, result.mode) == ((90, 90), image.mode)


def test_a_still_gif_becomes_a_png() -> None:
    result = opened(crop_to_ratio(encoded(striped(300, 90), "image/gif"), "image/gif", 1, "start"))

    assert (result.format, result.size) == ("PNG", (90, 90))


def test_a_cmyk_image_becomes_rgb() -> None:
    content = encoded(striped(300, 90).convert("CMYK"), "image/jpeg")

    assert opened(crop_to_ratio(content, "image/jpeg", 1, "middle")).mode == "RGB"


def test_an_animation_is_refused() -> None:
    frames = [striped(300, 90), striped(90, 300).resize((300, 90))]
    content = encoded(frames[0], "image/gif", save_all=True, append_images=frames[1:])

    with pytest.raises(MediaTypeNotAllowed, match="animation"):
        crop_to_ratio(content, "image/gif", 1, "middle")


def test_an_image_that_needs_too_much_memory_is_refused() -> None:
    content = encoded(Image.new("RGBA", (7000, 5700)), "image/png")

    with pytest.raises(MediaTypeNotAllowed, match="too large"):
        crop_to_ratio(content, "image/png", 1, "middle")


@pytest.mark.parametrize(
    ("ratio", "words"), [(0.8, "4:5"), (1.911, "1.91:1"), (20, "20:1"), (0.05, "1:20"), (1, "1:1"), (1.5, "3:2")]
)
def test_a_ratio_in_words(ratio: float, words: str) -> None:
    assert format_ratio(ratio) == words
