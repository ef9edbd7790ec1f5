"""`manage.py reconcile_media`: orphaned files, missing files, and quota counters."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
import time_machine
from django.core.management import CommandError, call_command
from pytest_django import Settings

from media import storage
from media.models import MediaAsset
from tests.conftest import ApiClient
from tests.media.pictures import jpeg, png
from workspaces.models import Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
Stored = Callable[[], list[bytes]]


def reconcile(*options: str) -> tuple[list[str], str]:
    """The findings and the progress output of a run at noon."""
    findings, progress = StringIO(), StringIO()
    with time_machine.travel(NOON, tick=False):
        call_command("reconcile_media", *options, stdout=findings, stderr=progress)
    return findings.getvalue().splitlines(), progress.getvalue()


@pytest.fixture
def left(workspace: Workspace, settings: Settings, tmp_path: Path) -> Callable[[timedelta], str]:
    """Store a file without a row, so long before noon; returns its key."""

    def store(age: timedelta) -> str:
        (tmp_path / "file").write_bytes(b"left behind")
        sha256 = hashlib.sha256(b"left behind").hexdigest()
        key = storage.new_storage_key(workspace_id=workspace.id, sha256=sha256, suffix=".jpg")
        storage.store_file(tmp_path / "file", key)
        at = (NOON - age).timestamp()
        os.utime(Path(settings.MEDIA_ROOT) / key, (at, at))
        return key

    return store


def test_consistent_files_and_rows_are_not_reported(api: ApiClient) -> None:
    api.upload(jpeg()), api.upload(jpeg()), api.upload(png())
    findings, progress = reconcile()

    assert findings == ["0 files without a row (0 removed), 0 assets without their file."]
    assert progress.splitlines() == ["2 stored files checked", "3 assets checked"]


def test_old_files_without_a_row_are_reported_and_removed(
    api: ApiClient, left: Callable[[timedelta], str], stored: Stored
) -> None:
    api.upload(jpeg())
    old, young = left(timedelta(minutes=61)), left(timedelta(minutes=59))
    reported, _ = reconcile()
    before = sorted(stored())
    removed, progress = reconcile("--remove")

    assert reported == [f"file without a row: {old}", "1 files without a row (0 removed), 0 assets without their file."]
    assert before == sorted([jpeg(), b"left behind", b"left behind"])
    assert removed[-1] == "1 files without a row (1 removed), 0 assets without their file."
    assert f"removed {old}" in progress
    assert sorted(stored()) == sorted([jpeg(), b"left behind"])
    assert young in storage.all_storage_keys()


def test_assets_without_their_file_are_reported_and_not_deleted(api: ApiClient) -> None:
    complete, lost = (api.upload(content).json()["media"]["id"] for content in (jpeg(), png()))
    storage.remove_file(MediaAsset.objects.get(pk=lost).storage_key)
    findings, _ = reconcile("--remove")

    assert findings == [f"asset without its file: {lost}", "0 files without a row (0 removed), 1 assets without their file."]
    assert MediaAsset.objects.filter(pk__in=[complete, lost], status="ready").count() == 2


def test_an_unavailable_storage_is_a_command_error(api: ApiClient, settings: Settings, tmp_path: Path) -> None:
    api.upload(jpeg())
    (tmp_path / "no folder").touch()
    settings.MEDIA_ROOT = tmp_path / "no folder"

    with pytest.raises(CommandError, match="storage"):
        reconcile()
