"""MEDIA_QUOTA_BYTES: the quota of a workspace's library."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
import time_machine
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.utils import timezone
from pytest_django import Settings

from config.environment import storages_setting
from media.models import MediaAsset, MediaUsage, PendingFile
from media.services import purge_pending_files
from tests import factories
from tests.config.outbound_servers import closed_port
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.media.pictures import jpeg, png
from tests.media.thumbnails import make_thumbnails
from tests.pages import Pages, words
from workspaces.models import User, Workspace

Stored = Callable[[], list[bytes]]
SIZE = len(jpeg())


@pytest.fixture
def room_for_one(settings: Settings) -> None:
    settings.MEDIA_QUOTA_BYTES = SIZE


def used(workspace: Workspace) -> int:
    return MediaUsage.objects.get(pk=workspace.pk).used_bytes


def uploaded(api: ApiClient, content: bytes | None = None, **fields: str) -> str:
    answer = api.upload(content or jpeg(), **fields)
    assert answer.status_code == 201, answer.content
    return str(answer.json()["media"]["id"])


@pytest.mark.usefixtures("room_for_one")
def test_a_file_beyond_the_quota_is_refused_before_it_is_stored(api: ApiClient, workspace: Workspace, stored: Stored) -> None:
    first = uploaded(api)
    for fields in ({}, {"dry_run": "true"}):
        body = assert_envelope(api.upload(png(), **fields), 409, "MEDIA_QUOTA_EXCEEDED")
        assert f"of {len(png()):,} bytes: {SIZE:,} of {SIZE:,} bytes are used" in body["message"]
        assert "Delete media" in body["suggested_action"]
    assert (stored(), PendingFile.objects.count(), used(workspace)) == ([jpeg()], 0, SIZE)

    api.delete(f"/media/{first}")
    assert used(workspace) == 0
    uploaded(api)


@pytest.mark.usefixtures("room_for_one")
def test_a_duplicate_file_counts_towards_the_quota(api: ApiClient) -> None:
    uploaded(api)

    assert_envelope(api.upload(jpeg()), 409, "MEDIA_QUOTA_EXCEEDED")
    assert MediaAsset.objects.count() == 1


@pytest.mark.usefixtures("room_for_one")
def test_thumbnails_do_not_count_towards_the_quota(api: ApiClient, workspace: Workspace, stored: Stored) -> None:
    uploaded(api)
    make_thumbnails()

    assert (len(stored()), used(workspace)) == (2, SIZE)


@pytest.mark.usefixtures("room_for_one")
def test_each_workspace_has_its_own_quota(api: ApiClient, stranger: User, workspace: Workspace) -> None:
    theirs = stranger.owned_workspaces.get()
    uploaded(api)
    uploaded(ApiClient(factories.workspace_key(theirs)))

    assert (used(workspace), used(theirs)) == (SIZE, SIZE)


def test_without_a_quota_uploads_are_accepted_and_counted(api: ApiClient, workspace: Workspace, settings: Settings) -> None:
    settings.MEDIA_QUOTA_BYTES = 0
    uploaded(api)
    uploaded(api)

    assert api.upload(jpeg(), dry_run="true").status_code == 200
    assert used(workspace) == 2 * SIZE


@pytest.mark.usefixtures("room_for_one")
@pytest.mark.django_db(transaction=True)
def test_concurrent_uploads_cannot_exceed_the_quota(api: ApiClient, workspace: Workspace) -> None:
    answers = in_threads(4, lambda _: api.upload(jpeg()))

    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]
    assert (used(workspace), MediaAsset.objects.count()) == (SIZE, 1)


@pytest.mark.usefixtures("room_for_one")
def test_a_failed_upload_uses_no_quota(api: ApiClient, workspace: Workspace, settings: Settings) -> None:
    address = f"http://127.0.0.1:{closed_port()}"
    settings.STORAGES = storages_setting(f"s3://media?endpoint_url={address}&access_key=AKIA1&secret_key=secret")
    assert_envelope(api.upload(jpeg()), 503, "SERVICE_UNAVAILABLE")
    assert used(workspace) == 0

    settings.STORAGES = storages_setting("")
    uploaded(api)
    with time_machine.travel(timezone.now() + timedelta(hours=2), tick=False):
        assert purge_pending_files() == 1
    assert used(workspace) == SIZE


def test_a_wrong_usage_counter_is_corrected(api: ApiClient, workspace: Workspace, stranger: User) -> None:
    other = stranger.owned_workspaces.get()
    uploaded(api)
    api.delete(f"/media/{uploaded(api, png())}")
    uploaded(ApiClient(factories.workspace_key(other)))
    MediaUsage.objects.filter(pk=other.pk).delete()
    MediaUsage.objects.filter(pk=workspace.pk).update(used_bytes=7)
    PendingFile.objects.create(storage_key="a", workspace_id=workspace.pk, size_bytes=5)
    PendingFile.objects.create(storage_key="b", workspace_id=workspace.pk, size_bytes=50, abandoned=True)

    reports = []
    for _ in range(2):
        report = StringIO()
        call_command("reconcile_media", stdout=report, stderr=StringIO())
        reports.append(report.getvalue())

    assert f"usage of {workspace.pk} corrected from 7 to {SIZE + 5} bytes" in reports[0]
    assert (used(workspace), used(other)) == (SIZE + 5, SIZE)
    assert "corrected" not in reports[1]


@pytest.mark.parametrize(
    ("quota", "shown"), [(5_000_000_000, "4.5 GB of 5 GB used"), (0, "4.5 GB used"), (1_250_000, "4.5 GB of 1.2 MB used")]
)
def test_the_library_page_shows_the_usage(
    owner: User, workspace: Workspace, settings: Settings, quota: int, shown: str
) -> None:
    settings.MEDIA_QUOTA_BYTES = quota
    MediaUsage.objects.create(workspace=workspace, used_bytes=4_500_000_000)

    assert shown in words(Pages(workspace, owner).get("media"))


@pytest.mark.usefixtures("room_for_one")
def test_a_refused_upload_is_reported_on_the_page(owner: User, workspace: Workspace, api: ApiClient) -> None:
    uploaded(api)
    page: Any = Pages(workspace, owner).post("media", {"file": SimpleUploadedFile("walk.png", png())})

    assert page.status_code == 422
    assert "walk.png was not uploaded. The workspace's media quota is too small for this file" in words(page)
