"""DELETE /media/{id}, and what prevents a deletion."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from pytest_django import Settings

from auditlog.models import AuditEntry
from config.api.errors import ValidationFailed
from config.db.ids import new_id
from config.db.writes import write_all_or_return_failed
from media.models import MediaAsset, MediaUse
from media.services import set_media_used_by_post, writes_that_delete_media_uses
from media.tasks import purge_deleted_files
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.media.pictures import jpeg, png
from workspaces.models import User, Workspace

Stored = Callable[[], list[bytes]]
HOLDER = new_id("pgr")
committed = pytest.mark.django_db(transaction=True)  # what follows a commit does not happen in a test's transaction


@pytest.fixture
def media(api: ApiClient) -> dict[str, Any]:
    made: dict[str, Any] = api.upload(jpeg()).json()["media"]
    return made


def use(media: dict[str, Any], holder: str = HOLDER) -> None:
    with transaction.atomic():
        set_media_used_by_post(holder_id=holder, media_ids=[media["id"]])


@committed
def test_the_row_gets_the_status_deleted_and_the_file_is_removed(
    api: ApiClient, media: dict[str, Any], stored: Stored
) -> None:
    answer = api.delete(f"/media/{media['id']}")

    assert answer.status_code == 200
    assert answer.json() == {"media": {**media, "url": None, "status": "deleted"}}
    assert Client().get(media["url"]).status_code == 404
    assert stored() == []
    asset = MediaAsset.objects.get()
    assert (asset.status, asset.storage_key, asset.due_at) == ("deleted", "", None)
    assert asset.deleted_at is not None


@committed
def test_deleting_an_asset_twice_is_not_found(api: ApiClient, media: dict[str, Any]) -> None:
    first = api.delete(f"/media/{media['id']}", idempotency_key="1")
    again, replayed = api.delete(f"/media/{media['id']}"), api.delete(f"/media/{media['id']}", idempotency_key="1")

    assert_envelope(again, 404, "NOT_FOUND")
    assert (replayed.status_code, replayed.json()) == (200, first.json())
    assert AuditEntry.objects.filter(operation="media.delete", outcome="succeeded").count() == 1


@committed
def test_an_unavailable_storage_does_not_prevent_the_deletion(
    api: ApiClient, media: dict[str, Any], stored: Stored, settings: Settings, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path / "broken"
    in_its_place = tmp_path / "broken" / MediaAsset.objects.get().storage_key / "a folder, which no removal of a file takes"
    in_its_place.mkdir(parents=True)
    answer = api.delete(f"/media/{media['id']}")
    settings.MEDIA_ROOT = tmp_path / "storage"

    assert (answer.status_code, stored()) == (200, [jpeg()])
    assert (purge_deleted_files(), stored()) == (1, [])
    assert purge_deleted_files() == 0


def test_a_dry_run_deletes_nothing(api: ApiClient, media: dict[str, Any], stored: Stored) -> None:
    body = api.delete(f"/media/{media['id']}?dry_run=true").json()

    assert (body["operation"], body["request"]) == ("media.delete", {})
    assert body["would_delete"] == {**media, "url": None, "status": "deleted"}
    assert (MediaAsset.objects.get().status, stored()) == ("ready", [jpeg()])


@pytest.mark.parametrize("dry_run", ["true", "false"])
def test_an_asset_used_by_an_unfinished_post_is_not_deleted(
    api: ApiClient, media: dict[str, Any], stored: Stored, dry_run: str
) -> None:
    use(media)
    answer = api.delete(f"/media/{media['id']}?dry_run={dry_run}")

    assert_envelope(answer, 409, "MEDIA_IN_USE")
    assert (MediaAsset.objects.get().status, stored()) == ("ready", [jpeg()])


def test_an_asset_can_be_deleted_after_the_last_release(api: ApiClient, media: dict[str, Any]) -> None:
    other = new_id("pgr")
    for holder in (HOLDER, HOLDER, other):
        use(media, holder)
    codes = []
    for holder in (HOLDER, other):
        codes.append(api.delete(f"/media/{media['id']}").status_code)
        write_all_or_return_failed(writes_that_delete_media_uses([holder]))

    assert [*codes, api.delete(f"/media/{media['id']}").status_code] == [409, 409, 200]


def test_use_media_replaces_the_marks_of_a_post_group(api: ApiClient, media: dict[str, Any]) -> None:
    others = [api.upload(content).json()["media"] for content in (png(), png(8, 8))]
    use(media)
    with transaction.atomic():
        set_media_used_by_post(holder_id=HOLDER, media_ids=[other["id"] for other in others])

    assert {use.media_id for use in MediaUse.objects.all()} == {other["id"] for other in others}
    assert api.delete(f"/media/{media['id']}").status_code == 200


def test_a_deleted_asset_cannot_be_used(api: ApiClient, media: dict[str, Any]) -> None:
    ids = [media["id"], new_id("med"), api.upload(png()).json()["media"]["id"]]
    api.delete(f"/media/{media['id']}")
    with pytest.raises(ValidationFailed) as refused, transaction.atomic():
        set_media_used_by_post(holder_id=HOLDER, media_ids=ids)

    assert [detail["field"] for detail in refused.value.details or []] == ["media[0].media_id", "media[1].media_id"]
    assert not MediaUse.objects.exists()


@committed
def test_of_a_simultaneous_use_and_deletion_one_fails(api: ApiClient, workspace: Workspace) -> None:
    for _ in range(5):
        asset = factories.MediaAssetFactory.create(workspace=workspace)

        def act(number: int, pk: str = asset.pk) -> str:
            if number:
                return str(api.delete(f"/media/{pk}").status_code)
            try:
                with transaction.atomic():
                    set_media_used_by_post(holder_id=new_id("pgr"), media_ids=[pk])
            except ValidationFailed as error:
                return error.code
            return "used"

        used, deleted = in_threads(2, act)
        assert (used, deleted) in [("used", "409"), ("VALIDATION_FAILED", "200")]
        assert MediaUse.objects.filter(media=asset).exists() == (used == "used")


def test_only_callers_who_may_upload_may_delete(
    key_with: Any, media: dict[str, Any], teammate: User, stranger: User, workspace: Workspace
) -> None:
    path = f"/media/{media['id']}"
    answers = [key_with("posts.read").delete(path)]
    answers += [ApiClient(factories.user_token(user)).delete(path) for user in (teammate, stranger)]
    Workspace.objects.filter(pk=workspace.pk).update(status="paused")
    answers.append(key_with("media.upload").delete(path))

    assert [answer.json()["code"] for answer in answers] == ["SCOPE_MISSING", "FORBIDDEN", "NOT_FOUND", "WORKSPACE_PAUSED"]
    assert MediaAsset.objects.get().status == "ready"
