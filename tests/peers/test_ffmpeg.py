"""Thumbnails of real videos with a real ffmpeg, if one is on the path."""

from __future__ import annotations

import io
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from PIL import Image
from pytest_django import Settings

from media.inspection import inspect_file
from media.thumbnail_rendering import Thumbnail, render_video_thumbnail_or_none

FFMPEG = shutil.which("ffmpeg") or ""

pytestmark = [pytest.mark.peer, pytest.mark.skipif(not FFMPEG, reason="there is no ffmpeg on the path")]


@pytest.fixture(autouse=True)
def _setting(settings: Settings) -> None:
    settings.FFMPEG = FFMPEG


def film(path: Path, *options: str, sides: str = "640x360") -> Path:
    """Create a video of three seconds: black, red and blue, one second each."""
    colours = (f"color=c={colour}:s={sides}:r=10:d=1" for colour in ("black", "red", "blue"))
    inputs = [argument for colour in colours for argument in ("-f", "lavfi", "-i", colour)]
    subprocess.run([FFMPEG, "-v", "error", *inputs, "-filter_complex", "concat=n=3", *options, str(path)], check=True)
    return path


def matrix(a: int, b: int, c: int, d: int) -> bytes:
    """Return the part of a track header that rotates its picture (ISO 14496-12, section 8.3.2)."""
    return struct.pack(">5i", a << 16, b << 16, 0, c << 16, d << 16)


def thumbnail(path: Path) -> Thumbnail | None:
    seen = inspect_file(path)
    assert seen.width
    assert seen.height
    return render_video_thumbnail_or_none(
        lambda: path.open("rb"),
        mime_type=seen.mime_type,
        sides=(seen.width, seen.height),
        seconds=(seen.duration_ms or 0) / 1000,
    )


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.mp4", ("-pix_fmt", "yuv420p")),
        ("a.mov", ("-c:v", "mpeg4")),
        ("a.webm", ("-pix_fmt", "yuv420p")),
        ("fragmented.mp4", ("-pix_fmt", "yuv420p", "-movflags", "frag_keyframe+empty_moov")),
    ],
)
def test_the_thumbnail_is_the_frame_after_one_second(tmp_path: Path, name: str, options: tuple[str, ...]) -> None:
    made = thumbnail(film(tmp_path / name, *options))

    assert made is not None
    picture = Image.open(io.BytesIO(made.content))
    assert (picture.format, picture.size) == ("JPEG", (320, 180))
    red, green, blue = picture.getpixel((160, 90))  # type: ignore[misc]
    assert red > 200 > 60 > max(green, blue)


def test_a_rotated_video_has_an_upright_thumbnail(tmp_path: Path) -> None:
    turned = film(tmp_path / "turned.mp4", "-pix_fmt", "yuv420p")
    content = turned.read_bytes()
    upright, quarter_turn = matrix(1, 0, 0, 1), matrix(0, 1, -1, 0)
    at = content.index(upright, content.index(b"tkhd"))  # versions of ffmpeg differ in the options that turn a film
    turned.write_bytes(content[:at] + quarter_turn + content[at + len(quarter_turn) :])
    made = thumbnail(turned)

    assert made is not None
    assert Image.open(io.BytesIO(made.content)).size == (180, 320)
