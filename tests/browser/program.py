"""Finds the browser of the browser tests. As a program, it ends with 1 and says what to do if there is none."""

from __future__ import annotations

import os
import shutil
import sys

NOT_FOUND = "Chromium was not found. `make browser-setup` installs what is missing; CHROMIUM names another program."


def browser_path_or_none() -> str | None:
    """Return the path of the program that CHROMIUM names, of Chromium's headless shell, or of Chromium."""
    named = os.environ.get("CHROMIUM")
    candidates = [named] if named else ["chromium-headless-shell", "chromium"]
    return next(filter(None, map(shutil.which, candidates)), None)


if __name__ == "__main__":
    sys.exit(None if browser_path_or_none() else NOT_FOUND)
