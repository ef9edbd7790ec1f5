"""Uploads leave no temporary files, however they end; leftovers of dead processes are removed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from django.db import connection
from pytest_django import Settings

from media.models import MediaAsset
from media.tasks import purge_upload_temp_files
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.media.pictures import jpeg

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
Stored = Callable[[], list[bytes]]


@pytest.mark.parametrize(
    ("content", "fields", "status"),
    [
        (jpeg(), {}, 201),
        (jpeg(), {"dry_run": "true"}, 200),
        (jpeg(position=True), {}, 201),
        (b"text", {}, 422),
        (jpeg(), {"surprise": "1"}, 422),
        (jpeg(), {"workspace_id": "wrk_00000000000000000000000000"}, 422),
    ],
)
def test_no_temporary_file_remains(
    api: ApiClient, incoming: Path, content: bytes, fields: dict[str, str], status: int
) -> None:
    assert api.upload(content, **fields).status_code == status
    assert list(incoming.iterdir()) == []


def test_no_temporary_file_of_a_repeated_request_remains(api: ApiClient, incoming: Path) -> None:
    for _ in range(2):
        assert api.upload(jpeg(), idempotency_key="1").status_code == 201

    assert list(incoming.iterdir()) == []


def test_a_missing_upload_folder_responds_with_503(api: ApiClient, settings: Settings, tmp_path: Path) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "gone"

    assert_envelope(api.upload(jpeg()), 503, "SERVICE_UNAVAILABLE")


@pytest.fixture
def no_audit_log(transactional_db: None) -> Iterator[None]:
    """Remove the last table an upload writes to, so that its transaction fails after the file was stored."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE auditlog_auditentry RENAME TO put_aside")
    yield
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE put_aside RENAME TO auditlog_auditentry")


def test_a_file_whose_row_cannot_be_written_is_removed(
    api: ApiClient, no_audit_log: None, stored: Stored, incoming: Path
) -> None:
    assert api.upload(jpeg()).status_code >= 500
    assert (MediaAsset.objects.count(), stored(), list(incoming.iterdir())) == (0, [], [])


def test_an_unavailable_storage_is_reported_and_leaves_no_file(
    api: ApiClient, incoming: Path, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    settings.MEDIA_ROOT = tmp_path / "file"

    assert_envelope(api.upload(jpeg()), 503, "SERVICE_UNAVAILABLE")
    assert (MediaAsset.objects.count(), list(incoming.iterdir())) == (0, [])


def test_temporary_files_of_dead_processes_are_removed(incoming: Path) -> None:
    for name, age in (("old", timedelta(hours=7)), ("young", timedelta(hours=5))):
        (incoming / name).touch()
        at = (NOON - age).timestamp()
        os.utime(incoming / name, (at, at))
    with time_machine.travel(NOON, tick=False):
        removed = purge_upload_temp_files()

    assert removed == 1
    assert [path.name for path in incoming.iterdir()] == ["young"]
