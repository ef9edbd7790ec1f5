"""A video that is read by seeking, never as a whole."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self

from media.errors import MediaTypeNotAllowed
from media.inspection.bounds import Deadline, cut_off

_CHECK_EVERY = 1024


class Picture(NamedTuple):
    """The largest video track: sides in pixels as shown, and the length of the video; 0 where the file does not say it."""

    width: int
    height: int
    seconds: float


class VideoFile:
    """A container file, open for reading. Methods raise MediaTypeNotAllowed where it is cut off or broken."""

    MAX_PARTS: int
    PARTS: str  # what the format calls them

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
        """Exactly these bytes."""
        self.file.seek(start)
        content = self.file.read(length)
        if len(content) != length:
            raise cut_off("video")
        return content

    def count_part(self) -> None:
        """Called for each box or element that is read."""
        self._parts_read += 1
        if self._parts_read > self.MAX_PARTS:
            raise MediaTypeNotAllowed(f"The video has more than {self.MAX_PARTS:,} {self.PARTS}.")
        if self._parts_read % _CHECK_EVERY == 0:
            self.deadline.check()
