"""The service's own source files, and the layers that they belong to."""

from __future__ import annotations

import configparser
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
NOT_OURS = {"var", "node_modules"}


def python_files() -> list[Path]:
    """Return all Python files of the service and its tests, without migrations."""
    found = (path.relative_to(ROOT) for path in ROOT.rglob("*.py"))
    return sorted(
        path
        for path in found
        if "migrations" not in path.parts and not any(part in NOT_OURS or part.startswith(".") for part in path.parts)
    )


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
