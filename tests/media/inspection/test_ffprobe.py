"""Where ffprobe is installed it has a second say; here a program of that name stands in for it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from media.errors import MediaTypeNotAllowed
from media.inspection import inspect
from tests.media.image_files import encoded
from tests.media.video_files import movie, webm

Write = Callable[[bytes], Path]
Install = Callable[[str], Path]

FINDS_VIDEO = """print('{"streams": [{"codec_type": "audio"}, {"codec_type": "video"}]}')"""
LIMITS = f"""
import resource
bounded = all(resource.getrlimit(limit)[0] < 2**40 for limit in (resource.RLIMIT_CPU, resource.RLIMIT_DATA))
if bounded: {FINDS_VIDEO}
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a program named ffprobe on the path; its arguments are written to the file that is returned."""

    def make(script: str) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir()
        called = tmp_path / "called"
        program = folder / "ffprobe"
        body = f"import sys; open({str(called)!r}, 'w').write('\\n'.join(sys.argv[1:]))\n{script}\n"
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -I -S -c {shlex.quote(body)} "$@"\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder), prepend=":")
        return called

    return make


def test_it_reads_that_one_file_and_nothing_else(install: Install, written: Write) -> None:
    called = install(FINDS_VIDEO)
    path = written(movie())

    assert inspect(path).kind == "video"

    arguments = called.read_text().split("\n")
    assert arguments[arguments.index("-protocol_whitelist") + 1] == "file"
    assert arguments[arguments.index("-f") + 1] == "mov"
    assert arguments[-1] == f"file:{path}"


def test_it_is_told_the_container(install: Install, written: Write) -> None:
    called = install(FINDS_VIDEO)

    inspect(written(webm()))

    assert "matroska" in called.read_text().split("\n")


def test_its_time_and_memory_are_bounded(install: Install, written: Write) -> None:
    install(LIMITS)

    assert inspect(written(movie())).kind == "video"


@pytest.mark.parametrize(
    "script",
    [
        "sys.exit(1)",
        """print('{"streams": []}')""",
        """print('{"streams": [{"codec_type": "audio"}]}')""",
        "print('{}')",
        "print('no answer')",
        "import os; os.kill(os.getpid(), 9)",
    ],
    ids=["fails", "finds_nothing", "finds_sound", "says_nothing", "says_nonsense", "dies"],
)
def test_what_it_cannot_read_is_refused(script: str, install: Install, written: Write) -> None:
    install(script)

    with pytest.raises(MediaTypeNotAllowed, match="cannot be read"):
        inspect(written(movie()))


def test_an_installation_that_does_not_run_says_nothing_of_the_file(install: Install, written: Write) -> None:
    install("sys.exit(127)")

    assert inspect(written(movie())).kind == "video"


def test_it_is_not_asked_about_images(install: Install, written: Write) -> None:
    called = install(FINDS_VIDEO)

    inspect(written(encoded("PNG")))

    assert not called.exists()
