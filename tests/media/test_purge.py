"""Periodic cleanup of the media library."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import time_machine
from django.conf import settings

from media.models import MediaAsset
from media.services import mark_media_deleted_in_workspaces_to_purge
from media.tasks import purge_deleted_files, purge_upload_temp_files
from tests import factories
from tests.conftest import ApiClient
from tests.media.pictures import jpeg, png
from workspaces.models import Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
Stored = Callable[[], list[bytes]]


def test_media_of_a_deleted_workspace_are_deleted_after_thirty_days(
    api: ApiClient, workspace: Workspace, stored: Stored
) -> None:
    other = ApiClient(factories.workspace_key(factories.WorkspaceFactory.create()))
    with time_machine.travel(NOON, tick=False) as clock:
        api.upload(jpeg())
        other.upload(png())
        api.delete(f"/workspaces/{workspace.id}")
        clock.shift(timedelta(days=30, seconds=-1))
        early = (mark_media_deleted_in_workspaces_to_purge(), purge_deleted_files(), len(stored()))
        clock.shift(timedelta(seconds=1))
        late = (mark_media_deleted_in_workspaces_to_purge(), purge_deleted_files(), stored())

    assert early == (0, 0, 2)
    assert late == (1, 1, [png()])
    gone = MediaAsset.objects.get(workspace=workspace)
    assert (gone.status, gone.deleted_at, gone.storage_key) == ("deleted", NOON + timedelta(days=30), "")


def test_media_of_a_paused_workspace_are_not_deleted(api: ApiClient, workspace: Workspace, stored: Stored) -> None:
    api.upload(jpeg())
    Workspace.objects.filter(pk=workspace.pk).update(status="paused", updated_at=NOON - timedelta(days=1000))

    assert (mark_media_deleted_in_workspaces_to_purge(), purge_deleted_files(), stored()) == (0, 0, [jpeg()])


def test_a_file_that_another_asset_shares_is_not_deleted(api: ApiClient, stored: Stored) -> None:
    first, second = (api.upload(jpeg()).json()["media"]["id"] for _ in range(2))
    MediaAsset.objects.filter(pk=first).update(status="deleted", thumbnail_key="")

    assert (purge_deleted_files(), stored()) == (1, [jpeg()])
    assert MediaAsset.objects.get(pk=first).storage_key == ""
    MediaAsset.objects.filter(pk=second).update(status="deleted")
    assert (purge_deleted_files(), stored()) == (1, [])


def test_the_beat_schedule_names_the_purge_tasks() -> None:
    named = {str(each["task"]) for each in settings.CELERY_BEAT_SCHEDULE.values()}

    assert {task.name for task in (purge_deleted_files, purge_upload_temp_files)} <= named
