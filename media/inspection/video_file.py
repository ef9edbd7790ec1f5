"""A video file that is read by seeking, part by part; the base of the readers of MP4 and WebM files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO, Self

from media.errors import MediaTypeNotAllowed
from media.inspection.bounds import Deadline, cut_off


class VideoFile:
    """An open file, the time left to read it, and a limit on how many parts of it are read.

    Use it as a context manager. Every method raises MediaTypeNotAllowed when the file is cut off or malformed.
    """

    max_parts: int
    check_every: int  # parts, between two checks of the deadline
    part_name = "parts"

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
        """Read exactly `length` bytes."""
        self.file.seek(start)
        content = self.file.read(length)
        if len(content) != length:
            raise cut_off("video")
        return content

    def count_part(self) -> None:
        """Count a part; raises MediaTypeNotAllowed when there are too many, or the time is used up."""
        self._parts_read += 1
        if self._parts_read > self.max_parts:
            raise MediaTypeNotAllowed(f"The video has more than {self.max_parts:,} {self.part_name}.")
        if self._parts_read % self.check_every == 0:
            self.deadline.check()
