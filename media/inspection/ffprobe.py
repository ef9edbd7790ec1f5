"""A second look at a video by ffprobe, where it is installed. It can only refuse; nothing depends on it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from media.errors import MediaTypeNotAllowed

SECONDS = 6
# Limits are set by a process of its own between us and ffprobe: preexec_fn may deadlock in a process with threads.
# RLIMIT_DATA counts what it writes to, not the libraries that it maps. Linux; elsewhere the limit on time remains.
_LIMITED = """
import os, resource, sys
for limit, value in ((resource.RLIMIT_CPU, int(sys.argv[1])), (resource.RLIMIT_DATA, 300 << 20), (resource.RLIMIT_CORE, 0)):
    resource.setrlimit(limit, (value, value))
os.execv(sys.argv[2], sys.argv[2:])
"""
_NEVER_RAN = (126, 127)  # a broken installation says nothing about the file


def check_with_ffprobe(path: Path, demuxer: str) -> None:
    """Refuse a video in which ffprobe finds no video stream, reading it as `demuxer` and opening nothing but it."""
    program = shutil.which("ffprobe")
    if program is None:
        return
    call = [
        *(program, "-v", "error", "-protocol_whitelist", "file", "-f", demuxer, "-threads", "1"),
        *("-show_entries", "stream=codec_type", "-of", "json", f"file:{path.absolute()}"),
    ]
    try:
        answer = subprocess.run(  # noqa: S603
            [sys.executable, "-I", "-S", "-c", _LIMITED, str(SECONDS), *call],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise MediaTypeNotAllowed("The video takes too long to read.") from error
    if answer.returncode in _NEVER_RAN:
        return
    if answer.returncode != 0 or not _has_video(answer.stdout):
        raise MediaTypeNotAllowed("The video cannot be read.")


def _has_video(answer: bytes) -> bool:
    try:
        streams = json.loads(answer)["streams"]
        return any(stream.get("codec_type") == "video" for stream in streams)
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
