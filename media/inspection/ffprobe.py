"""A second look at a video by ffprobe, where it is installed. It can only refuse; nothing depends on it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from media.errors import MediaTypeNotAllowed
from media.inspection.bounded_program import run_bounded

SECONDS = 6
MEMORY = 300 * 1024 * 1024
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
        answer = run_bounded(call, seconds=SECONDS, memory=MEMORY)
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
