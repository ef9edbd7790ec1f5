"""Optional second check of a video with ffprobe, the program that the setting FFPROBE names.

Versions of ffprobe differ in the files that they can read, so a failure of the program does not refuse the file. A file is
refused only if ffprobe reads it and finds streams, but no video stream.
"""

from __future__ import annotations

import json
import logging
import subprocess
from pathlib import Path

from django.conf import settings

from media.errors import MediaTypeNotAllowed
from media.inspection.bounded_program import run_bounded

logger = logging.getLogger(__name__)
SECONDS = 6
MEMORY = 300 * 1024 * 1024


def check_with_ffprobe(path: Path, demuxer: str) -> None:
    """Raise MediaTypeNotAllowed if ffprobe finds streams in the file, but no video stream.

    ffprobe reads only this file, in the format that `demuxer` names.
    """
    if not settings.FFPROBE:
        return
    call = [
        *(settings.FFPROBE, "-v", "error", "-protocol_whitelist", "file", "-f", demuxer, "-threads", "1"),
        *("-show_entries", "stream=codec_type", "-of", "json", f"file:{path.absolute()}"),
    ]
    try:
        answer = run_bounded(call, seconds=SECONDS, memory=MEMORY)
    except subprocess.TimeoutExpired:
        logger.warning("ffprobe did not finish reading an upload within %d seconds; its look is skipped.", SECONDS)
        return
    if answer.returncode != 0:
        logger.warning("ffprobe failed with status %d on an upload; its look is skipped.", answer.returncode)
        return
    kinds = _stream_kinds(answer.stdout)
    if kinds and "video" not in kinds:
        raise MediaTypeNotAllowed("The file holds no video.")


def _stream_kinds(answer: bytes) -> set[str]:
    """The stream types in ffprobe's JSON output, such as video and audio; empty if the output is invalid."""
    try:
        return {str(stream["codec_type"]) for stream in json.loads(answer)["streams"]}
    except (ValueError, KeyError, TypeError):
        return set()
