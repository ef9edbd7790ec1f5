"""The type is detected from the first bytes, so that limits apply while the rest of a file is still being received."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from media.errors import MediaTypeNotAllowed
from media.inspection import detect_mime_type, inspect_file
from tests.media.document_files import pdf
from tests.media.image_files import encoded
from tests.media.video_files import movie, webm

Write = Callable[[bytes], Path]

TYPES = {
    "image/jpeg": lambda: encoded("JPEG"),
    "image/png": lambda: encoded("PNG"),
    "image/webp": lambda: encoded("WEBP"),
    "image/gif": lambda: encoded("GIF"),
    "video/mp4": movie,
    "video/quicktime": lambda: movie(brand=b"qt  "),
    "video/webm": webm,
    "application/pdf": pdf,
}


@pytest.mark.parametrize("mime_type", TYPES)
def test_the_first_bytes_determine_the_type(mime_type: str, written: Write) -> None:
    assert detect_mime_type(written(TYPES[mime_type]()[:32])) == mime_type


@pytest.mark.parametrize("name", ["a.jpg", "a.svg", "a.exe", "no ending", "a.jpg.php"])
def test_the_file_name_does_not_affect_the_type(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(encoded("PNG"))

    assert inspect_file(path).mime_type == detect_mime_type(path) == "image/png"


def test_a_refusal_lists_the_supported_types(written: Write) -> None:
    with pytest.raises(MediaTypeNotAllowed) as refusal:
        detect_mime_type(written(b"MZ" + bytes(100)))

    assert refusal.value.message == "The file is a Windows program; that type is not taken."
    assert "JPEG" in refusal.value.suggested_action


def test_a_missing_file_raises_file_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        inspect_file(tmp_path / "missing")
