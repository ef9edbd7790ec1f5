"""Media used by unfinished posts cannot be deleted; finished posts release them."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from media.models import MediaAsset
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.factories import MediaAssetFactory
from tests.in_threads import in_threads
from tests.posts.calls import batch, confirm, group_in, patch
from tests.posts.media_rows import deletable, media_of
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, body_for, create, read
from workspaces.models import Workspace

WAITS = {"default_mode": "requires_confirmation"}


@pytest.fixture
def assets(workspace: Workspace) -> list[MediaAsset]:
    return MediaAssetFactory.create_batch(3, workspace=workspace)


@pytest.mark.parametrize("made", [{"draft": True}, {"scheduled_at": TOMORROW}, {}], ids=["draft", "scheduled", "waits"])
def test_media_of_an_unfinished_post_cannot_be_deleted(
    api: ApiClient, agent_client: Any, account: ConnectedAccount, assets: list[MediaAsset], clock: Any, made: dict[str, Any]
) -> None:
    group = create(api if made else agent_client(**WAITS), account, media=media_of(*assets[:2]), **made)

    assert deletable(api, *assets) == [False, False, True]
    assert_envelope(api.delete(f"/media/{assets[0].id}"), 409, "MEDIA_IN_USE")
    assert patch(api, group, text="Still there").status_code == 200


def test_a_rejected_post_releases_its_media(
    api: ApiClient, agent_client: Any, account: ConnectedAccount, assets: list[MediaAsset], clock: Any
) -> None:
    group = create(agent_client(**WAITS), account, media=media_of(*assets[:2]))
    create(api, account, media=media_of(assets[1]), draft=True)

    api.post(f"/posts/{group['id']}/reject", {"dry_run": True})
    assert deletable(api, *assets) == [False, False, True]
    api.post(f"/posts/{group['id']}/reject")

    assert deletable(api, *assets) == [True, False, True]
    assert api.delete(f"/media/{assets[0].id}").status_code == 200
    assert read(api, group)["media"] == media_of(*assets[:2])


@pytest.mark.parametrize(("text", "status"), [("Hello", "published"), ("[sandbox:reject]", "failed"), ("Hello", "cancelled")])
def test_a_finished_post_releases_its_media(
    api: ApiClient, account: ConnectedAccount, assets: list[MediaAsset], clock: Any, text: str, status: str
) -> None:
    group = create(api, account, text=text, media=media_of(assets[0]), scheduled_at=TOMORROW)
    if status == "cancelled":
        api.delete(f"/posts/{group['id']}")
    clock.move_to(TOMORROW)
    run_until_idle()

    assert read(api, group)["status"] == status
    assert deletable(api, assets[0]) == [True]


def test_a_retry_reserves_the_media_or_names_deleted_assets(
    api: ApiClient, account: ConnectedAccount, assets: list[MediaAsset], clock: Any
) -> None:
    retried, stranded = (
        create(api, account, text="[sandbox:reject]", media=media_of(asset)) for asset in (assets[0], assets[1])
    )
    run_until_idle()
    api.delete(f"/media/{assets[1].id}")

    assert api.post(f"/posts/{retried['id']}/retry", {"scheduled_at": TOMORROW}).status_code == 200
    assert deletable(api, assets[0]) == [False]
    answer = api.post(f"/posts/{stranded['id']}/retry")
    assert [detail["field"] for detail in assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]] == [
        "media[0].media_id"
    ]
    assert read(api, stranded)["status"] == "failed"


def test_an_edit_reserves_new_media_and_releases_removed_media(
    api: ApiClient, account: ConnectedAccount, assets: list[MediaAsset], clock: Any
) -> None:
    group = create(api, account, media=media_of(*assets[:2]), scheduled_at=TOMORROW)
    exchanged = media_of(assets[2], assets[1], alt_text="Own")

    preview = patch(api, group, media=exchanged, dry_run=True).json()["would_update"]
    assert (preview["media"], deletable(api, *assets)) == (exchanged, [False, False, True])
    edited = group_in(patch(api, group, media=exchanged))

    assert (edited["media"], edited["content_version"]) == (exchanged, 2)
    assert deletable(api, *assets) == [True, False, False]
    assert group_in(patch(api, group, text="Better"))["media"] == exchanged
    assert group_in(patch(api, group, media=[]))["media"] == []
    assert deletable(api, *assets) == [True, True, True]


def test_a_confirmed_post_reserves_its_media(
    api: ApiClient, account: ConnectedAccount, assets: list[MediaAsset], clock: Any
) -> None:
    group = create(api, account, text="", media=media_of(assets[0]), draft=True)

    assert group_in(confirm(api, group, scheduled_at=TOMORROW))["media"] == media_of(assets[0])
    assert deletable(api, assets[0]) == [False]


@pytest.mark.django_db(transaction=True)
def test_an_asset_deleted_concurrently_is_in_use_or_not_found(
    api: ApiClient, account: ConnectedAccount, workspace: Workspace
) -> None:
    for _ in range(8):
        asset = MediaAssetFactory(workspace=workspace)

        def race(n: int, asset: MediaAsset = asset) -> int:
            body = body_for(account, media=media_of(asset), draft=True)
            answer = api.delete(f"/media/{asset.id}") if n else api.post("/posts", body)
            return int(answer.status_code)

        assert in_threads(2, race) in ([201, 409], [422, 200])


@pytest.mark.django_db(transaction=True)
def test_batches_that_use_the_same_assets_in_opposite_orders_do_not_block_each_other(
    api: ApiClient, account: ConnectedAccount, workspace: Workspace
) -> None:
    assets = MediaAssetFactory.create_batch(6, workspace=workspace)
    posts = [body_for(account, media=media_of(asset), draft=True) for asset in assets]

    answers = in_threads(6, lambda n: batch(api, *(posts if n % 2 else reversed(posts))).status_code)

    assert answers == [201] * 6
