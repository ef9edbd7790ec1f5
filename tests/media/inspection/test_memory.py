"""The largest accepted images are inspected within 300 MB of memory; decompression bombs are refused within it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from PIL import Image

from tests.media.image_files import encoded, gif, gif_frame
from tests.media.nasty_files import NASTY

LARGEST = (8000, 5000)
LARGEST_DECODED_WEBP = (4000, 4000)  # a larger one is taken by its structure
ALLOWED = 300 * 1024 * 1024
# The bound is on what a process may add to what it holds once everything is loaded. Each file has a process of its own,
# forked from one that has loaded everything.
INSPECT = """
import os, resource, sys, django
django.setup()
from pathlib import Path
from media.errors import MediaTypeNotAllowed
from media.inspection import inspect_file
for path in sorted(Path(sys.argv[2]).iterdir()):
    if child := os.fork():
        if status := os.waitpid(child, 0)[1]:
            sys.exit(f"{path.name}: the process ended with the status {status}")
        continue
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + int(sys.argv[1]),) * 2)
    try:
        print(path.name, inspect_file(path).width, flush=True)
    except MediaTypeNotAllowed as refusal:
        print(path.name, refusal.message, flush=True)
    os._exit(0)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bounded").mkdir()
    return tmp_path / "bounded"


def inspect_within_bounds(folder: Path) -> dict[str, str]:
    """The result for each file of the folder, from processes that get no more memory than allowed."""
    answer = subprocess.run(
        [sys.executable, "-c", INSPECT, str(ALLOWED), str(folder)],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return dict(line.split(" ", 1) for line in answer.stdout.splitlines())


def largest(form: str, mode: str, sides: tuple[int, int] = LARGEST, **options: object) -> bytes:
    return encoded(form, Image.new(mode, sides, 100), **options)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the size of the process as Linux reports it")
def test_inspecting_forty_megapixels_stays_within_the_memory_limit(folder: Path) -> None:
    for name, content in {
        "jpeg": largest("JPEG", "RGB"),
        "jpeg_progressive": largest("JPEG", "RGB", progressive=True, subsampling=0),
        "jpeg_cmyk": largest("JPEG", "CMYK", progressive=True),
        "png": largest("PNG", "RGBA", compress_level=1),
        "gif": largest("GIF", "P"),
        "webp": largest("WEBP", "RGB", method=0),
        "webp_decoded": largest("WEBP", "RGB", LARGEST_DECODED_WEBP, method=0, lossless=True, quality=0),
        "gif_of_missing_pixels": gif((6000, 6000), gif_frame((6000, 6000), b"\x02\x02\x44\x01\x00")),
    }.items():
        (folder / name).write_bytes(content)

    assert inspect_within_bounds(folder) == {
        "jpeg": "8000",
        "jpeg_progressive": "8000",
        "jpeg_cmyk": "8000",
        "png": "8000",
        "gif": "8000",
        "webp": "8000",
        "webp_decoded": "4000",
        "gif_of_missing_pixels": "The image is broken.",
    }


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the size of the process as Linux reports it")
def test_inspecting_decompression_bombs_stays_within_the_memory_limit(folder: Path) -> None:
    bombs = {name: build for name, build, _ in NASTY if "bomb" in name or "169" in name or "huge" in name}
    for name, build in bombs.items():
        (folder / name).write_bytes(build())

    said = inspect_within_bounds(folder)

    assert set(said) == set(bombs)
    assert all(message.startswith("The ") for message in said.values())
