"""Base class for reading video container files by seeking, without loading the whole file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO, Self

from media.errors import MediaTypeNotAllowed
from media.inspection.bounds import Deadline, cut_off

_CHECK_EVERY = 1024


class VideoFile:
    """A video container file, open for reading. Methods raise MediaTypeNotAllowed if the file is incomplete or broken."""

    MAX_PARTS: int
    PARTS: str  # the format's name for its parts, used in error messages

    def __init__(self, path: Path) -> None:
        self.file: BinaryIO = path.open("rb")
        self.size = os.fstat(self.file.fileno()).st_size
        self.deadline = Deadline()
        self._parts_read = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.file.close()

    def read(self, start: int, length: int) -> bytes:
        """Read exactly `length` bytes of the video file from `start`."""
        self.file.seek(start)
        content = self.file.read(length)
        if len(content) != length:
            raise cut_off("video")
        return content

    def count_part(self) -> None:
        """Count a box or element of the video file as it is read; refuses files with too many, and checks the deadline."""
        self._parts_read += 1
        if self._parts_read > self.MAX_PARTS:
            raise MediaTypeNotAllowed(f"The video has more than {self.MAX_PARTS:,} {self.PARTS}.")
        if self._parts_read % _CHECK_EVERY == 0:
            self.deadline.check()
