"""Runs ffprobe and ffmpeg on untrusted videos with limits on time and memory, and checks videos with ffprobe.

Versions of ffprobe differ in the files that they can read, so a failure of the program does not refuse the file. A file is
refused only if ffprobe reads it and finds streams, but no video stream.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import IO

from django.conf import settings
from django.utils.translation import gettext_noop

from media.errors import MediaTypeNotAllowed

logger = logging.getLogger(__name__)
FFPROBE_SECONDS = 6
FFPROBE_MEMORY_BYTES = 300 * 1024 * 1024
# Format names for ffprobe and ffmpeg, so that they do not guess the format.
DEMUXERS = {"video/mp4": "mov", "video/quicktime": "mov", "video/webm": "matroska"}

# A separate process sets the limits and then starts the program: preexec_fn may deadlock in a process with threads.
# RLIMIT_DATA counts writable memory, not mapped libraries. It works on Linux; other systems only have the time limit.
_LIMITED = """
import os, resource, sys
seconds, memory = int(sys.argv[1]), int(sys.argv[2])
for limit, value in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_DATA, memory), (resource.RLIMIT_CORE, 0)):
    resource.setrlimit(limit, (value, value))
os.execv(sys.argv[3], sys.argv[3:])
"""


def run_ffmpeg_with_limits(
    call: list[str], *, seconds: int, memory: int, stdin: IO[bytes] | int = subprocess.DEVNULL
) -> subprocess.CompletedProcess[bytes]:
    """Run ffprobe or ffmpeg with limits on time and memory (in bytes), and return the result with its standard output.

    The first item of `call` is an absolute path. Raises TimeoutExpired after `seconds`.
    """
    return subprocess.run(  # noqa: S603
        [sys.executable, "-I", "-S", "-c", _LIMITED, str(seconds), str(memory), *call],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=seconds,
        check=False,
    )


def refuse_file_without_video_by_ffprobe(path: Path, mime_type: str) -> None:
    """Refuse a video file if ffprobe (setting FFPROBE) finds streams in it, such as sound, but no video stream.

    Raises MediaTypeNotAllowed. ffprobe reads only this file, in the format of `mime_type`.
    """
    if not settings.FFPROBE:
        return
    call = [
        *(settings.FFPROBE, "-v", "error", "-protocol_whitelist", "file", "-f", DEMUXERS[mime_type], "-threads", "1"),
        *("-show_entries", "stream=codec_type", "-of", "json", f"file:{path.absolute()}"),
    ]
    try:
        result = run_ffmpeg_with_limits(call, seconds=FFPROBE_SECONDS, memory=FFPROBE_MEMORY_BYTES)
    except subprocess.TimeoutExpired:
        logger.warning("ffprobe did not finish reading an upload within %d seconds; its look is skipped.", FFPROBE_SECONDS)
        return
    if result.returncode != 0:
        logger.warning("ffprobe failed with status %d on an upload; its look is skipped.", result.returncode)
        return
    kinds = _stream_kinds(result.stdout)
    if kinds and "video" not in kinds:
        raise MediaTypeNotAllowed(gettext_noop("The file holds no video."))


def _stream_kinds(output: bytes) -> set[str]:
    """Return the types of the streams in ffprobe's JSON output, such as video and audio; none if the output is invalid."""
    try:
        return {str(stream["codec_type"]) for stream in json.loads(output)["streams"]}
    except (ValueError, KeyError, TypeError):
        return set()
