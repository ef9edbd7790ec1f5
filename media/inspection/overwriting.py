"""Overwriting of byte ranges in a video file in place, so that all offsets in the file stay valid."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from media.inspection.bounds import broken

_BLOCK = 1024 * 1024


class Edit(NamedTuple):
    """An edit of a video file: write `mark` at `start`, then zeros up to `end`."""

    start: int
    end: int
    mark: bytes = b""


def overwrite(path: Path, edits: list[Edit]) -> bool:
    """Apply edits to a video file in place; returns whether there were any.

    Raises MediaTypeNotAllowed if the edits overlap so much that a small file would cause hours of writing.
    """
    if not edits:
        return False
    if sum(edit.end - edit.start for edit in edits) > path.stat().st_size:
        raise broken("video")
    with path.open("r+b") as file:
        for edit in edits:
            file.seek(edit.start)
            file.write(edit.mark)
            left = edit.end - edit.start - len(edit.mark)
            while left > 0:
                left -= file.write(bytes(min(left, _BLOCK)))
        file.flush()
        os.fsync(file.fileno())
    return True
