"""The service's own source files, and the layers that they belong to."""

from __future__ import annotations

import configparser
import fnmatch
import functools
import os
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
NOT_OURS = {"var", "node_modules"}


@functools.cache
def python_files() -> tuple[Path, ...]:
    """Return all Python files of the service and its tests, without migrations."""
    return tuple(path for path in files_named("*.py") if "migrations" not in path.parts)


def files_named(pattern: str) -> list[Path]:
    """Return our files of such names. The folders of other projects, a virtual environment's among them, are not entered."""
    found = []
    for folder, below, files in os.walk(ROOT):
        below[:] = [name for name in below if name not in NOT_OURS and not name.startswith(".")]
        here = Path(folder).relative_to(ROOT)
        found += [here / name for name in fnmatch.filter(files, pattern) if not name.startswith(".")]
    return sorted(found)


def _layers() -> dict[str, int]:
    """Return the layer of each package in .importlinter, from 0 at the bottom."""
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    lines = contracts["importlinter:contract:layers"]["layers"].split("\n")
    return {name.strip(): layer for layer, line in enumerate(reversed(lines)) for name in line.split("|") if name.strip()}


LAYERS = _layers()


def package_of(module: str) -> str | None:
    """Return the package of LAYERS that contains a module; None for a module of another project."""
    return next((name for name in LAYERS if f"{module}.".startswith(f"{name}.")), None)


def points_downward(package: str, other: str) -> bool:
    """Return whether a package may refer to the other one: itself or a package of a lower layer."""
    return package == other or LAYERS[other] < LAYERS[package]
