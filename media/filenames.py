"""The names of files: what a caller calls one is a label for people and never reaches a disk."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

MAX_FILENAME_LENGTH = 255
SUFFIXES = {
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/webp": ".webp",
    "image/gif": ".gif",
    "video/mp4": ".mp4",
    "video/quicktime": ".mov",
    "video/webm": ".webm",
    "application/pdf": ".pdf",
}


def display_filename(filename: str, mime_type: str) -> str:
    """The last part of a path, without what cannot be seen, cut in front of its suffix; one made up where none is left."""
    last = re.split(r"[/\\]", filename)[-1]
    label = "".join(character for character in last if character.isprintable()).strip()
    if not label.strip("."):
        return f"upload{SUFFIXES[mime_type]}"
    suffix = PurePosixPath(label).suffix[:20]
    return label if len(label) <= MAX_FILENAME_LENGTH else label[: MAX_FILENAME_LENGTH - len(suffix)] + suffix
