"""The thumbnail worker loop: due assets, retries, and giving up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.conf import settings as configured
from django.test import Client
from django.utils.module_loading import import_string
from pytest_django import Settings

from config.jobs import wake_up
from config.jobs.models import Heartbeat
from media.models import MediaAsset
from media.services.thumbnails import (
    LEASE,
    LOOP_NAME,
    MAX_ATTEMPTS,
    RETRY_PAUSES,
    claim_asset_for_thumbnail,
    make_thumbnail_or_schedule_retry,
)
from media.tasks import purge_deleted_files
from media.worker_loop import ThumbnailLoop
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.media.document_files import pdf
from tests.media.files.fetching import assert_gone, fetch
from tests.media.pictures import gif, jpeg, png
from tests.media.thumbnails import in_library, make_thumbnails
from workspaces.models import Workspace

Stored = Callable[[], list[bytes]]
NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
committed = pytest.mark.django_db(transaction=True)  # what follows a commit does not happen in a test's transaction


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def media(api: ApiClient, clock: time_machine.Traveller) -> dict[str, Any]:
    """A picture whose thumbnail is due."""
    made: dict[str, Any] = api.upload(jpeg(640, 480)).json()["media"]
    return made


def take_up() -> MediaAsset:
    """The asset that a worker has claimed."""
    asset = claim_asset_for_thumbnail()
    assert asset is not None
    return asset


def stored_file(media: dict[str, Any]) -> Path:
    return Path(configured.MEDIA_ROOT) / MediaAsset.objects.get(pk=media["id"]).storage_key


def log_lines(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(record.levelname, record.getMessage()) for record in caplog.records if "thumbnail" in record.getMessage()]


def test_the_worker_runs_the_thumbnail_loop() -> None:
    assert import_string(configured.WORKER_LOOPS[LOOP_NAME]) is ThumbnailLoop


def test_an_upload_has_no_thumbnail_until_a_worker_has_made_it(api: ApiClient, media: dict[str, Any]) -> None:
    assert media["thumbnail_url"] is None
    make_thumbnails()
    shown = in_library(api, media)
    answer = fetch(shown["thumbnail_url"])

    assert shown["thumbnail_url"].startswith(f"http://127.0.0.1:8000/files/{media['id']}/bench.jpg?form=thumbnail&")
    assert {**shown, "thumbnail_url": None} == media
    assert (answer.status_code, answer["Content-Type"], answer["X-Content-Type-Options"]) == (200, "image/jpeg", "nosniff")
    assert not ThumbnailLoop().run_once()


@committed
@pytest.mark.parametrize(("content", "rings"), [(jpeg(), True), (gif(), True), (pdf(), False)], ids=["jpeg", "gif", "pdf"])
def test_an_upload_that_needs_a_thumbnail_wakes_the_worker(api: ApiClient, content: bytes, rings: bool) -> None:
    rung = threading.Event()
    wake_up.set_worker_loop_wake_function(LOOP_NAME, rung.set)
    try:
        media = api.upload(content).json()["media"]
    finally:
        wake_up.set_worker_loop_wake_function(LOOP_NAME, None)

    assert rung.is_set() is rings
    make_thumbnails()
    assert (in_library(api, media)["thumbnail_url"] is not None) is rings


def test_a_dry_run_makes_no_thumbnail(api: ApiClient, stored: Stored) -> None:
    api.upload(jpeg(), dry_run="true")

    assert (ThumbnailLoop().run_once(), stored()) == (False, [])


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"other bytes")], ids=["lost", "broken"])
def test_an_unreadable_file_is_given_up_after_three_attempts(
    api: ApiClient,
    media: dict[str, Any],
    clock: time_machine.Traveller,
    caplog: pytest.LogCaptureFixture,
    damage: Callable[[Path], Any],
) -> None:
    damage(stored_file(media))
    for pause in RETRY_PAUSES:
        make_thumbnails()
        clock.shift(pause - timedelta(seconds=1))
        assert not ThumbnailLoop().run_once()
        clock.shift(timedelta(seconds=1))
    make_thumbnails()
    clock.shift(timedelta(days=30))

    assert not ThumbnailLoop().run_once()
    assert in_library(api, media)["thumbnail_url"] is None
    assert [(level, media["id"] in line) for level, line in log_lines(caplog)] == [
        ("WARNING", True),
        ("WARNING", True),
        ("ERROR", True),
    ]
    assert "given up" in log_lines(caplog)[-1][1]


def test_a_storage_that_is_away_for_a_moment_costs_an_attempt(
    api: ApiClient, media: dict[str, Any], clock: time_machine.Traveller, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    settings.MEDIA_ROOT = tmp_path / "file"
    make_thumbnails()
    settings.MEDIA_ROOT = tmp_path / "storage"
    clock.shift(RETRY_PAUSES[0])
    make_thumbnails()

    assert fetch(in_library(api, media)["thumbnail_url"]).status_code == 200


def test_a_failing_thumbnail_does_not_block_others(api: ApiClient, media: dict[str, Any]) -> None:
    other = api.upload(png()).json()["media"]
    stored_file(media).unlink()
    make_thumbnails()

    assert (in_library(api, media)["thumbnail_url"], in_library(api, other)["thumbnail_url"] is None) == (None, False)


def test_another_worker_continues_a_dead_workers_thumbnail(
    api: ApiClient, media: dict[str, Any], clock: time_machine.Traveller
) -> None:
    take_up()
    clock.shift(LEASE - timedelta(seconds=1))
    assert not ThumbnailLoop().run_once()
    clock.shift(timedelta(seconds=1))
    make_thumbnails()

    assert fetch(in_library(api, media)["thumbnail_url"]).status_code == 200


def test_a_thumbnail_that_crashed_three_workers_is_given_up(
    api: ApiClient, media: dict[str, Any], clock: time_machine.Traveller, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(MAX_ATTEMPTS):
        take_up()
        clock.shift(LEASE)
    other = api.upload(png()).json()["media"]
    make_thumbnails()

    assert in_library(api, media)["thumbnail_url"] is None
    assert in_library(api, other)["thumbnail_url"] is not None
    [(level, line)] = log_lines(caplog)
    assert (level, media["id"] in line, "given up" in line) == ("ERROR", True, True)
    clock.shift(timedelta(days=30))
    assert not ThumbnailLoop().run_once()


def test_a_worker_with_an_expired_claim_changes_nothing(
    api: ApiClient, media: dict[str, Any], clock: time_machine.Traveller, stored: Stored
) -> None:
    late = take_up()
    clock.shift(LEASE)
    make_thumbnails()
    made = fetch(in_library(api, media)["thumbnail_url"])
    make_thumbnail_or_schedule_retry(late)

    assert fetch(in_library(api, media)["thumbnail_url"])["ETag"] == made["ETag"]
    assert len(stored()) == 2


def test_a_failure_after_the_claim_expired_changes_nothing(
    api: ApiClient, media: dict[str, Any], clock: time_machine.Traveller
) -> None:
    late = take_up()
    clock.shift(LEASE)
    make_thumbnails()
    stored_file(media).unlink()
    make_thumbnail_or_schedule_retry(late)
    clock.shift(RETRY_PAUSES[-1])

    assert in_library(api, media)["thumbnail_url"] is not None
    assert not ThumbnailLoop().run_once()


@committed
@pytest.mark.parametrize("lost", [False, True], ids=["made", "failed"])
def test_an_asset_deleted_while_its_thumbnail_is_made_is_not_changed(
    api: ApiClient, media: dict[str, Any], clock: time_machine.Traveller, stored: Stored, lost: bool
) -> None:
    asset = take_up()
    if lost:
        stored_file(media).unlink()
    else:
        api.upload(jpeg(640, 480))  # has the same file, so that it is still there to be read
    api.delete(f"/media/{media['id']}")
    files = stored()
    make_thumbnail_or_schedule_retry(asset)
    clock.shift(timedelta(days=1))
    if lost:
        make_thumbnails()

    assert stored() == files
    deleted = MediaAsset.objects.get(pk=media["id"])
    assert (deleted.status, deleted.thumbnail_key, deleted.due_at) == ("deleted", "", None)


@committed
def test_a_thumbnail_is_deleted_with_its_asset(api: ApiClient, media: dict[str, Any], stored: Stored) -> None:
    make_thumbnails()
    url = in_library(api, media)["thumbnail_url"]
    answer = api.delete(f"/media/{media['id']}").json()["media"]

    assert (answer["thumbnail_url"], stored()) == (None, [])
    assert_gone(url)
    assert purge_deleted_files() == 0


@committed
def test_assets_with_the_same_bytes_share_the_thumbnail(api: ApiClient, media: dict[str, Any], stored: Stored) -> None:
    make_thumbnails()
    second = api.upload(jpeg(640, 480)).json()["media"]
    first = in_library(api, media)
    shown = [fetch(each["thumbnail_url"]) for each in (first, second)]

    assert shown[0].body == shown[1].body
    assert (len(stored()), ThumbnailLoop().run_once()) == (2, False)
    api.delete(f"/media/{media['id']}")
    assert_gone(first["thumbnail_url"])
    assert fetch(second["thumbnail_url"]).body == shown[0].body
    api.delete(f"/media/{second['id']}")
    assert stored() == []


@committed
def test_two_workers_make_each_thumbnail_once(api: ApiClient, workspace: Workspace, stored: Stored) -> None:
    for number in range(6):
        api.upload(jpeg(8, 8 + number))
    in_threads(2, lambda _: make_thumbnails())

    media_list = api.get(f"/media?workspace_id={workspace.id}").json()["media"]
    assert all(media["thumbnail_url"] for media in media_list)
    assert len(stored()) == 12
    assert set(MediaAsset.objects.values_list("thumbnail_attempts", flat=True)) == {1}


def test_late_thumbnails_do_not_make_the_service_unready(media: dict[str, Any], clock: time_machine.Traveller) -> None:
    clock.shift(timedelta(hours=5))
    for duty in ("publish", "deliver"):
        Heartbeat.objects.create(duty=duty, beat_at=NOON + timedelta(hours=5))

    assert Client().get("/readyz").status_code == 200
