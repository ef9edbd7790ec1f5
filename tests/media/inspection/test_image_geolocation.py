"""Geolocation metadata is removed from an image; its pixels, its orientation and its colour profile are preserved."""

from __future__ import annotations

import io
import stat
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image, ImageCms, ImageSequence

from media.inspection import inspect_file, remove_geolocation
from tests.media.image_files import (
    XMP_WITH_POSITION,
    XMP_WITHOUT_POSITION,
    animation,
    chunk,
    encoded,
    exif,
    gif,
    gif_extension,
    gif_frame,
    gif_xmp,
    iptc,
    png,
    segment,
    with_chunks,
    with_segments,
)
from tests.media.video_files import box, movie, track

Write = Callable[[bytes], Path]

GPS, ORIENTATION = 0x8825, 0x0112
PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
XMP_SEGMENT = b"http://ns.adobe.com/xap/1.0/\0"
MORE_XMP_SEGMENT = b"http://ns.adobe.com/xmp/extension/\0" + b"0" * 32 + bytes(8)
XMP_ITXT = b"XML:com.adobe.xmp\0\0\0\0\0"


def raw_profile(kind: bytes, content: bytes) -> bytes:
    """A profile as ImageMagick writes it."""
    text = b"\n%s\n%8d\n%s\n" % (kind, len(content), content.hex().encode())
    return chunk(b"zTXt", b"Raw profile type %s\0\0" % kind + zlib.compress(text))


def motion_photo_video() -> bytes:
    return movie(track(), box(b"udta", box(b"\xa9xyz", b"\x00\x12\x15\xc7+52.5164+013.3777/")))


TELLING = {
    "jpeg_exif": lambda: encoded("JPEG", exif=exif(orientation=6)),
    "jpeg_xmp": lambda: with_segments(encoded("JPEG"), segment(0xE1, XMP_SEGMENT + XMP_WITH_POSITION)),
    "jpeg_xmp_in_pieces": lambda: with_segments(
        encoded("JPEG"),
        *(segment(0xE1, MORE_XMP_SEGMENT + part) for part in (XMP_WITH_POSITION[:85], XMP_WITH_POSITION[85:])),
    ),
    "jpeg_iptc": lambda: with_segments(encoded("JPEG"), segment(0xED, iptc(90, b"Berlin"))),
    "jpeg_comment": lambda: with_segments(encoded("JPEG"), segment(0xFE, b"taken at +52.5164+013.3777/")),
    "jpeg_exif_of_the_second_picture": lambda: encoded("JPEG") + encoded("JPEG", exif=exif()),
    "jpeg_video_behind_it": lambda: encoded("JPEG") + motion_photo_video(),
    "png_exif": lambda: encoded("PNG", exif=exif(orientation=6)),
    "png_xmp": lambda: with_chunks(encoded("PNG"), chunk(b"iTXt", XMP_ITXT + XMP_WITH_POSITION)),
    "png_xmp_packed": lambda: with_chunks(
        encoded("PNG"), chunk(b"iTXt", XMP_ITXT[:18] + b"\1\0\0\0" + zlib.compress(XMP_WITH_POSITION))
    ),
    "png_raw_exif": lambda: with_chunks(encoded("PNG"), raw_profile(b"exif", exif())),
    "png_raw_iptc": lambda: with_chunks(encoded("PNG"), raw_profile(b"iptc", iptc(90, b"Berlin")[14:])),
    "png_text": lambda: with_chunks(encoded("PNG"), chunk(b"tEXt", b"exif:GPSLatitude\x0052/1, 31/1")),
    "webp_exif": lambda: encoded("WEBP", exif=exif(orientation=6), lossless=True),
    "webp_xmp": lambda: encoded("WEBP", xmp=XMP_WITH_POSITION, lossless=True),
    "webp_animated": lambda: animation("WEBP", exif=exif(), xmp=XMP_WITH_POSITION, lossless=True),
    "gif_xmp": lambda: gif((1, 1), gif_xmp(XMP_WITH_POSITION), gif_frame()),
    "gif_comment": lambda: gif((1, 1), gif_frame(), gif_extension(0xFE, b"+52.5164+013.3777/")),
}
SILENT = {
    "jpeg": lambda: encoded("JPEG", exif=exif(orientation=6, position=False), icc_profile=PROFILE),
    "jpeg_xmp": lambda: with_segments(encoded("JPEG"), segment(0xE1, XMP_SEGMENT + XMP_WITHOUT_POSITION)),
    "jpeg_iptc": lambda: with_segments(encoded("JPEG"), segment(0xED, iptc(120, b"A caption"))),
    "jpeg_second_picture": lambda: encoded("JPEG") + encoded("JPEG"),
    "jpeg_broken_exif": lambda: with_segments(encoded("JPEG"), segment(0xE1, b"Exif\0\0MM\0*\xff\xff\xff\xff")),
    "jpeg_broken_resources": lambda: with_segments(encoded("JPEG"), segment(0xED, iptc(90, b"Berlin")[:-9])),
    "png": lambda: with_chunks(encoded("PNG", exif=exif(position=False)), chunk(b"tEXt", b"Title\0A morning")),
    "png_text_not_packed_as_it_says": lambda: with_chunks(png(), chunk(b"zzTX", b"Raw profile type exif\0\0abc")),
    "webp": lambda: encoded("WEBP", exif=exif(position=False), xmp=XMP_WITHOUT_POSITION),
    "gif": lambda: animation("GIF", comment=b"A comment"),
}


def pixels(content: bytes) -> list[tuple[str, bytes]]:
    """Each frame's mode and decoded bytes."""
    with Image.open(io.BytesIO(content)) as image:
        return [(frame.mode, frame.tobytes()) for frame in ImageSequence.Iterator(image)]


def has_geolocation(content: bytes) -> bool:
    """Whether any of the geolocation above can be read in the image."""
    with Image.open(io.BytesIO(content)) as image:
        image.load()
        has_gps_block = bool(image.getexif().get_ifd(GPS))
        texts = b"".join(str(value).encode() for value in (*image.info.values(), *getattr(image, "text", {}).values()))
    return has_gps_block or any(word in content + texts for word in (b"GPSLat", b"52.5164", b"Berlin", b"\x88\x25\x00\x04"))


@pytest.mark.parametrize("name", TELLING)
def test_geolocation_is_removed_and_pixels_do_not_change(name: str, written: Write) -> None:
    content = TELLING[name]()
    path = written(content)
    inspected = inspect_file(path)

    assert remove_geolocation(path, inspected.mime_type) is True

    cleaned = path.read_bytes()
    assert not has_geolocation(cleaned)
    assert pixels(cleaned)[0] == pixels(content)[0]
    assert len(pixels(cleaned)) == (3 if "animated" in name else 1)
    assert inspect_file(path) == inspected
    assert remove_geolocation(path, inspected.mime_type) is False


@pytest.mark.parametrize("name", SILENT)
def test_an_image_without_geolocation_is_not_changed(name: str, written: Write) -> None:
    content = SILENT[name]()
    path = written(content)

    assert remove_geolocation(path, inspect_file(path).mime_type) is False
    assert path.read_bytes() == content


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_the_orientation_is_preserved(form: str, orientation: int, written: Write) -> None:
    path = written(encoded(form, exif=exif(orientation=orientation)))

    remove_geolocation(path, inspect_file(path).mime_type)

    with Image.open(path) as image:
        assert dict(image.getexif()) == {ORIENTATION: orientation}


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_the_colour_profile_is_preserved(form: str, written: Write) -> None:
    path = written(encoded(form, exif=exif(), icc_profile=PROFILE))

    remove_geolocation(path, inspect_file(path).mime_type)

    with Image.open(path) as image:
        assert image.info["icc_profile"] == PROFILE


def test_the_colours_of_an_adobe_jpeg_are_preserved(written: Write) -> None:
    content = with_segments(encoded("JPEG", keep_rgb=True), segment(0xE1, exif()))
    path = written(content)

    assert remove_geolocation(path, inspect_file(path).mime_type) is True
    assert pixels(path.read_bytes()) == pixels(content)


def test_other_texts_of_a_png_are_preserved(written: Write) -> None:
    path = written(with_chunks(encoded("PNG", exif=exif()), chunk(b"tEXt", b"Title\0A morning")))

    remove_geolocation(path, inspect_file(path).mime_type)

    with Image.open(path) as image:
        assert image.text == {"Title": "A morning"}  # type: ignore[attr-defined]


def test_no_temporary_file_remains_and_the_file_mode_is_preserved(tmp_path: Path) -> None:
    folder = tmp_path / "alone"
    folder.mkdir()
    path = folder / "upload"
    path.write_bytes(encoded("JPEG", exif=exif()))
    path.chmod(0o640)

    remove_geolocation(path, inspect_file(path).mime_type)

    assert [entry.name for entry in folder.iterdir()] == ["upload"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
