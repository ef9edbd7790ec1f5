"""The service's own source files."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
NOT_OURS = {"var", "node_modules"}


def python_files() -> list[Path]:
    """Every Python file of the service and its tests, migrations left out, in order."""
    found = (path.relative_to(ROOT) for path in ROOT.rglob("*.py"))
    return sorted(
        path
        for path in found
        if "migrations" not in path.parts and not any(part in NOT_OURS or part.startswith(".") for part in path.parts)
    )
