"""Thumbnails of videos: a frame extracted by ffmpeg (setting FFMPEG); here a script replaces the program."""

from __future__ import annotations

import io
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import pytest
import requests
from moto.server import ThreadedMotoServer
from PIL import Image
from pytest_django import Settings

from config.environment import storages_setting
from media.worker_loop import ThumbnailLoop
from tests.conftest import ApiClient
from tests.media.files.fetching import fetch
from tests.media.thumbnails import in_library, make_thumbnails
from tests.media.video_files import QUARTER_TURN, box, movie, movie_header, track, webm

Install = Callable[[str], Path]

# Both read their arguments and the video as ffmpeg does.
READ = """
import re, resource, sys
def of(name): return sys.argv[sys.argv.index(name) + 1]
video = open(of("-i").removeprefix("file:"), "rb").read()
width, height = map(int, re.fullmatch(r"scale=(\\d+):(\\d+)", of("-vf")).groups())
"""
GIVES_A_FRAME = READ + "sys.stdout.buffer.write(bytes((0, 128, 128)) * width * height)"
IS_BOUNDED = """
bounded = all(resource.getrlimit(limit)[0] < 2**40 for limit in (resource.RLIMIT_CPU, resource.RLIMIT_DATA))
if not bounded: sys.exit(1)
"""


@pytest.fixture
def install(tmp_path: Path, settings: Settings) -> Install:
    """Install a script as FFMPEG; it writes its arguments to the returned file."""

    def make(script: str) -> Path:
        called, program = tmp_path / "called", tmp_path / "ffmpeg"
        body = f"import sys; open({str(called)!r}, 'w').write('\\n'.join(sys.argv[1:]))\n{script}\n"
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -I -S -c {shlex.quote(body)} "$@"\n')
        program.chmod(0o755)
        settings.FFMPEG = str(program)
        return called

    return make


def thumbnail_url(api: ApiClient, video: bytes) -> Any:
    media = api.upload(video, "walk.mp4").json()["media"]
    make_thumbnails()
    return in_library(api, media)["thumbnail_url"]


@pytest.mark.parametrize(
    ("video", "demuxer", "sides"),
    [
        (movie(track(sides=(1280, 720))), "mov", (320, 180)),
        (movie(track(sides=(1280, 720), matrix=QUARTER_TURN)), "mov", (180, 320)),
        (movie(brand=b"qt  "), "mov", (64, 48)),
        (webm(), "matroska", (64, 48)),
    ],
    ids=["mp4", "mp4_turned", "mov", "webm"],
)
def test_a_frame_becomes_its_thumbnail(
    api: ApiClient, install: Install, video: bytes, demuxer: str, sides: tuple[int, int]
) -> None:
    called = install(GIVES_A_FRAME)
    answer = fetch(thumbnail_url(api, video))
    picture = Image.open(io.BytesIO(answer.body))

    assert (answer["Content-Type"], picture.format, picture.size) == ("image/jpeg", "JPEG", sides)
    red, green, blue = picture.getpixel((10, 10))  # type: ignore[misc]
    assert red < 12 < 120 < min(green, blue)
    arguments = called.read_text().split("\n")
    assert arguments[arguments.index("-f") + 1] == demuxer


def test_ffmpeg_is_given_one_video_and_opens_no_other_file(api: ApiClient, install: Install, tmp_path: Path) -> None:
    video = movie()
    called = install(READ + f"open({str(tmp_path / 'seen')!r}, 'wb').write(video)")
    thumbnail_url(api, video)

    assert (tmp_path / "seen").read_bytes() == video
    before_input = called.read_text().split("\n-i\n")[0].split("\n")
    assert before_input[before_input.index("-protocol_whitelist") + 1] == "file"


def test_a_video_in_a_bucket_gets_a_thumbnail(api: ApiClient, install: Install, settings: Settings, tmp_path: Path) -> None:
    video = movie(tail=box(b"free", bytes(2_000_000)))  # more than a download keeps in memory
    install(GIVES_A_FRAME + f"\nopen({str(tmp_path / 'seen')!r}, 'wb').write(video)")
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        keys = {"aws_access_key_id": "AKIA1", "aws_secret_access_key": "secret"}
        boto3.client("s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1", **keys).create_bucket(
            Bucket="media"
        )
        settings.STORAGES = storages_setting(
            f"s3://media?endpoint_url=http://{host}:{port}&access_key=AKIA1&secret_key=secret"
        )
        answer = fetch(thumbnail_url(api, video))
        response = requests.Session().get(answer["Location"], timeout=5)
    finally:
        server.stop()

    assert (tmp_path / "seen").read_bytes() == video
    assert (response.headers["Content-Type"], response.content[:3]) == ("image/jpeg", b"\xff\xd8\xff")


def test_its_time_and_memory_are_bounded(api: ApiClient, install: Install) -> None:
    install(READ + IS_BOUNDED + GIVES_A_FRAME)

    assert thumbnail_url(api, movie()) is not None


@pytest.mark.parametrize(("duration", "at"), [(60_000, "1.000"), (500, "0.250"), (0, "0.000")])
def test_the_thumbnail_shows_a_frame_after_the_beginning(api: ApiClient, install: Install, duration: int, at: str) -> None:
    called = install(GIVES_A_FRAME)
    thumbnail_url(api, movie(track(duration=duration), header=movie_header(duration=duration)))

    arguments = called.read_text().split("\n")
    assert arguments[arguments.index("-ss") + 1] == at


@pytest.mark.parametrize(
    "script",
    [
        GIVES_A_FRAME + "\nsys.exit(1)",
        "",
        "print('no frame')",
        GIVES_A_FRAME + "\nsys.stdout.write('more')",
        "open('/dev/stdin/none')",
    ],
    ids=["fails", "gives_nothing", "gives_nonsense", "gives_too_much", "breaks"],
)
def test_invalid_output_of_ffmpeg_becomes_no_thumbnail(
    api: ApiClient, install: Install, caplog: pytest.LogCaptureFixture, script: str
) -> None:
    install(script)

    assert thumbnail_url(api, movie()) is None
    assert "ffmpeg ended with" in caplog.text


def test_without_ffmpeg_no_thumbnail_is_made_or_due(api: ApiClient, caplog: pytest.LogCaptureFixture) -> None:
    assert thumbnail_url(api, movie()) is None
    assert not ThumbnailLoop().run_once()
    assert [record.name for record in caplog.records if record.name != "access"] == []
