"""Fixtures for the tests of file serving: assets with stored files, at a fixed time."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import time_machine
from pytest_django import Settings

from media.models import MediaAsset
from media.storage import new_storage_key, store_file
from tests import factories
from tests.media.files.fetching import CONTENT, NOW, MakeAsset
from workspaces.models import Workspace


@pytest.fixture(autouse=True)
def clock(settings: Settings) -> Iterator[time_machine.Traveller]:
    settings.BASE_URL = "https://posts.example.com"
    settings.MEDIA_LINK_SECONDS = 600
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


@pytest.fixture
def make(workspace: Workspace, tmp_path: Path) -> MakeAsset:
    """Create an asset with a stored file."""

    def make(suffix: str = ".jpg", content: bytes = CONTENT, **fields: Any) -> MediaAsset:
        path = tmp_path / "upload"
        path.write_bytes(content)
        sha256 = hashlib.sha256(content).hexdigest()
        key = new_storage_key(workspace_id=workspace.id, sha256=sha256, suffix=suffix)
        store_file(path, key)
        named = {"sha256": sha256, "size_bytes": len(content), "storage_key": key, **fields}
        asset: MediaAsset = factories.MediaAssetFactory(workspace=workspace, **named)
        return asset

    return make


@pytest.fixture
def asset(make: MakeAsset) -> MediaAsset:
    return make()
