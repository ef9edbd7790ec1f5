"""Display names of uploaded files, from names that callers supply; these are never part of a storage path."""

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
    """The display name of an uploaded file: the last path component without unprintable characters.

    The name is cut to MAX_FILENAME_LENGTH before its suffix. If nothing is left of it, a default name is returned.
    """
    last = re.split(r"[/\\]", filename)[-1]
    label = "".join(character for character in last if character.isprintable()).strip()
    if not label.strip("."):
        return f"upload{SUFFIXES[mime_type]}"
    suffix = PurePosixPath(label).suffix[:20]
    return label if len(label) <= MAX_FILENAME_LENGTH else label[: MAX_FILENAME_LENGTH - len(suffix)] + suffix
