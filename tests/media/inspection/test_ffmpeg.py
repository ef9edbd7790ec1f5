"""ffprobe (setting FFPROBE) checks a video a second time; here a script replaces the program."""

from __future__ import annotations

import logging
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_django import Settings

from media.errors import MediaTypeNotAllowed
from media.inspection import inspect_file
from tests.media.image_files import encoded
from tests.media.inspection.test_videos import VIDEOS
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
def install(tmp_path: Path, settings: Settings) -> Install:
    """Install a script as FFPROBE; it writes its arguments to the returned file."""

    def make(script: str) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir()
        called = tmp_path / "called"
        program = folder / "ffprobe"
        body = f"import sys; open({str(called)!r}, 'w').write('\\n'.join(sys.argv[1:]))\n{script}\n"
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -I -S -c {shlex.quote(body)} "$@"\n')
        program.chmod(0o755)
        settings.FFPROBE = str(program)
        return called

    return make


def test_ffprobe_reads_only_the_uploaded_file(install: Install, written: Write) -> None:
    called = install(FINDS_VIDEO)
    path = written(movie())

    assert inspect_file(path).kind == "video"

    arguments = called.read_text().split("\n")
    assert arguments[arguments.index("-protocol_whitelist") + 1] == "file"
    assert arguments[arguments.index("-f") + 1] == "mov"
    assert arguments[-1] == f"file:{path}"


def test_ffprobe_gets_the_container_format(install: Install, written: Write) -> None:
    called = install(FINDS_VIDEO)

    inspect_file(written(webm()))

    assert "matroska" in called.read_text().split("\n")


def test_its_time_and_memory_are_bounded(install: Install, written: Write) -> None:
    install(LIMITS)

    assert inspect_file(written(movie())).kind == "video"


def test_a_file_in_which_it_finds_only_sound_is_refused(install: Install, written: Write) -> None:
    install("""print('{"streams": [{"codec_type": "audio"}]}')""")

    with pytest.raises(MediaTypeNotAllowed, match="holds no video"):
        inspect_file(written(movie()))


@pytest.mark.parametrize(
    "script",
    [
        "sys.exit(1)",
        "sys.exit(127)",
        """print('{"streams": []}')""",
        "print('{}')",
        "print('[]')",
        """print('{"streams": [null]}')""",
        "print('no answer')",
        "import os; os.kill(os.getpid(), 9)",
    ],
    ids=["fails", "does_not_run", "finds_nothing", "says_nothing", "lists", "null", "says_nonsense", "dies"],
)
def test_a_failure_of_ffprobe_does_not_refuse_the_file(script: str, install: Install, written: Write) -> None:
    install(script)

    assert inspect_file(written(movie())).kind == "video"


def test_a_missing_ffprobe_does_not_refuse_the_file(settings: Settings, written: Write, tmp_path: Path) -> None:
    settings.FFPROBE = str(tmp_path / "gone")

    assert inspect_file(written(movie())).kind == "video"


def test_a_slow_ffprobe_does_not_refuse_the_file(
    install: Install, written: Write, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("media.inspection.ffmpeg.FFPROBE_SECONDS", 1)
    install("while True: pass")

    with caplog.at_level(logging.WARNING):
        assert inspect_file(written(movie())).kind == "video"
    assert "ffprobe" in caplog.text


def test_an_ffprobe_on_the_path_is_not_run_without_the_setting(
    install: Install, written: Write, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = install("sys.exit(1)")
    monkeypatch.setenv("PATH", str(Path(settings.FFPROBE).parent), prepend=":")
    settings.FFPROBE = ""

    assert inspect_file(written(movie())).kind == "video"
    assert not called.exists()


@pytest.mark.skipif(not shutil.which("ffprobe"), reason="there is no ffprobe on the path")
@pytest.mark.parametrize("name", VIDEOS)
def test_a_real_ffprobe_accepts_what_our_own_checks_accept(name: str, settings: Settings, written: Write) -> None:
    settings.FFPROBE = shutil.which("ffprobe") or ""
    make, expected = VIDEOS[name]

    assert inspect_file(written(make())) == expected


def test_ffprobe_is_not_run_for_images(install: Install, written: Write) -> None:
    called = install(FINDS_VIDEO)

    inspect_file(written(encoded("PNG")))

    assert not called.exists()
