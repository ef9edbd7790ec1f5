"""Files to inspect."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def written(tmp_path: Path) -> Callable[[bytes], Path]:
    """Write the bytes to a file whose name does not indicate the type."""

    def write(content: bytes) -> Path:
        path = tmp_path / "upload"
        path.write_bytes(content)
        return path

    return write
