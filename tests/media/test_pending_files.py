"""Every stored file has a row: one of a pending file until an asset adopts it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, default_storage
from django.utils import timezone
from pytest_django import Settings

from config.environment import storages_setting
from media import storage
from media.models import MediaAsset, PendingFile
from media.services import pending, purge_pending_files
from tests.config.outbound_servers import closed_port
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.media.pictures import jpeg
from tests.media.thumbnails import make_thumbnails

Stored = Callable[[], list[bytes]]
KEY = "wrk_1/file.jpg"


class PurgedMeanwhile(FileSystemStorage):
    """A storage so slow that the purge runs before the file is stored."""

    def save(self, name: str | None, content: Any, max_length: int | None = None) -> str:
        with later(hours=2):
            purge_pending_files()
        return str(super().save(name, content, max_length))


def later(**passed: float) -> Any:
    return time_machine.travel(timezone.now() + timedelta(**passed), tick=False)


@pytest.fixture
def unreachable(settings: Settings) -> None:
    """The bucket is down."""
    address = f"http://127.0.0.1:{closed_port()}"
    settings.STORAGES = storages_setting(f"s3://media?endpoint_url={address}&access_key=AKIA1&secret_key=secret")


def test_an_upload_leaves_no_pending_file(api: ApiClient, stored: Stored) -> None:
    api.upload(jpeg())
    make_thumbnails()

    assert not PendingFile.objects.exists()
    with later(days=1):
        assert (purge_pending_files(), len(stored())) == (0, 2)


@pytest.mark.usefixtures("unreachable")
def test_files_of_unacknowledged_writes_are_removed_after_an_hour(api: ApiClient, settings: Settings, stored: Stored) -> None:
    assert_envelope(api.upload(jpeg()), 503, "SERVICE_UNAVAILABLE")
    assert not MediaAsset.objects.exists()
    settings.STORAGES = storages_setting("")
    default_storage.save(PendingFile.objects.get().storage_key, ContentFile(jpeg()))

    with later(minutes=59):
        assert (purge_pending_files(), stored()) == (0, [jpeg()])
    with later(minutes=61):
        assert (purge_pending_files(), stored()) == (1, [])
    assert not PendingFile.objects.exists()


@pytest.mark.django_db
def test_files_of_dead_processes_are_removed(tmp_path: Path, stored: Stored) -> None:
    (tmp_path / "file").write_bytes(b"left")
    pending.store_and_count_pending_file(tmp_path / "file", KEY, workspace_id="wrk_1")

    with later(minutes=61):
        assert (purge_pending_files(), stored()) == (1, [])


def test_a_file_that_the_purge_abandoned_cannot_be_adopted(api: ApiClient, settings: Settings) -> None:
    path = f"{__name__}.{PurgedMeanwhile.__name__}"
    settings.STORAGES = {**settings.STORAGES, "default": {"BACKEND": path}}

    assert_envelope(api.upload(jpeg()), 503, "SERVICE_UNAVAILABLE")
    assert not MediaAsset.objects.exists()
    settings.STORAGES = storages_setting("")
    assert list(storage.all_storage_keys()) == []


@pytest.mark.usefixtures("unreachable")
@pytest.mark.django_db
def test_removal_is_retried_after_a_storage_outage(settings: Settings) -> None:
    PendingFile.objects.create(storage_key=KEY, workspace_id="wrk_1")
    with later(hours=2):
        assert purge_pending_files() == 0
        settings.STORAGES = storages_setting("")
        assert purge_pending_files() == 1
