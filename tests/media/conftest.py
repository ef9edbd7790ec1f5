"""Fixtures for the tests of media: folders for uploads and stored files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_django import Settings

from media import backend_limits, storage


@pytest.fixture(autouse=True)
def incoming(settings: Settings, tmp_path: Path) -> Path:
    """The upload folder; the storage is a separate folder beside it."""
    settings.MEDIA_ROOT = tmp_path / "storage"
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "incoming"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir(mode=0o700)
    return tmp_path / "incoming"


@pytest.fixture(autouse=True)
def _working_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reset the circuit breaker for each test."""
    monkeypatch.setattr(backend_limits, "bucket_breaker", backend_limits.CircuitBreaker())


@pytest.fixture
def stored() -> Callable[[], list[bytes]]:
    """The contents of all stored files."""

    def read() -> list[bytes]:
        contents = []
        for key in storage.all_storage_keys():
            with storage.open_file(key) as file:
                contents.append(file.read())
        return contents

    return read
