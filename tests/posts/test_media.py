"""Media of posts: attaching, order, and ownership."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import ConnectedAccount
from config.db.ids import new_id
from media.models import MediaAsset
from posts.attached_media import AttachedMediaDeleted, media_files_for_adapter
from posts.models import PostGroup
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.factories import AccountFactory, MediaAssetFactory
from tests.people import as_user
from tests.posts.calls import assert_nothing_written, batch, groups_in, patch
from tests.posts.media_rows import deletable, media_of
from tests.posts.rows import TOMORROW, body_for, create, events_of, read
from workspaces.models import User, Workspace


@pytest.fixture
def assets(workspace: Workspace) -> list[MediaAsset]:
    return MediaAssetFactory.create_batch(3, workspace=workspace)


def test_media_are_stored_in_order_with_alt_texts(
    api: ApiClient, account: ConnectedAccount, assets: list[MediaAsset], clock: Any
) -> None:
    media = [*media_of(assets[2], alt_text="A finished bench"), *media_of(assets[0]), *media_of(assets[1], alt_text="")]

    group = create(api, account, media=media, scheduled_at=TOMORROW)

    assert group["media"] == read(api, group)["media"] == media
    assert events_of(group)[0]["data"]["post_group"]["media"] == media


def test_adapters_get_media_in_order_with_default_alt_texts(
    api: ApiClient, account: ConnectedAccount, assets: list[MediaAsset]
) -> None:
    media = [*media_of(assets[2], alt_text="A finished bench"), *media_of(assets[0]), *media_of(assets[1], alt_text="")]
    group = PostGroup.objects.get(pk=create(api, account, media=media, draft=True)["id"])

    assert [(file.id, file.alt_text) for file in media_files_for_adapter(group)] == [
        (assets[2].id, "A finished bench"),
        (assets[0].id, assets[0].alt_text),
        (assets[1].id, ""),
    ]
    assert media_files_for_adapter(PostGroup(workspace_id=group.workspace_id)) == ()

    MediaAsset.objects.filter(pk=assets[0].pk).update(status="deleted")
    with pytest.raises(AttachedMediaDeleted) as gone:
        media_files_for_adapter(group)
    assert gone.value.media_ids == [assets[0].id]


@pytest.mark.parametrize("text", ["", " \n"])
def test_media_are_allowed_without_text(
    api: ApiClient, account: ConnectedAccount, assets: list[MediaAsset], text: str
) -> None:
    assert create(api, account, text=text, media=media_of(assets[0]))["status"] == "publishing"


def test_a_dry_run_shows_the_media_and_stores_nothing(
    api: ApiClient, account: ConnectedAccount, assets: list[MediaAsset], clock: Any
) -> None:
    media = [*media_of(assets[0], alt_text="A bench"), *media_of(assets[1])]

    preview = api.post("/posts", body_for(account, media=media, dry_run=True)).json()

    assert preview["request"]["media"] == media
    assert preview["validation"]["valid"] is True
    assert deletable(api, *assets) == [True, True, True]
    assert_nothing_written()


def post(client: ApiClient, account: ConnectedAccount, media: Any) -> Any:
    return client.post("/posts", body_for(account, media=media))


def preview(client: ApiClient, account: ConnectedAccount, media: Any) -> Any:
    return client.post("/posts", body_for(account, media=media, dry_run=True))


def validate(client: ApiClient, account: ConnectedAccount, media: Any) -> Any:
    return client.post("/posts/validate", body_for(account, media=media))


def edit(client: ApiClient, account: ConnectedAccount, media: Any) -> Any:
    return patch(client, create(client, account, draft=True), media=media)


@pytest.mark.parametrize("way", [post, preview, validate, edit])
def test_foreign_absent_and_deleted_assets_get_the_same_error(
    api: ApiClient,
    account: ConnectedAccount,
    assets: list[MediaAsset],
    way: Callable[[ApiClient, ConnectedAccount, Any], Any],
) -> None:
    deleted = MediaAssetFactory(workspace=account.workspace, status="deleted")
    for media_id in (MediaAssetFactory().id, new_id("med"), deleted.id):
        answer = way(api, account, [*media_of(assets[0]), {"media_id": media_id}])
        assert assert_envelope(answer, 422, "VALIDATION_FAILED")["details"] == [
            {"field": "media[1].media_id", "code": "not_found", "message": "This media asset does not exist."}
        ]


@pytest.mark.parametrize("way", [post, preview, validate, edit])
def test_an_asset_can_be_attached_only_once(
    api: ApiClient,
    account: ConnectedAccount,
    assets: list[MediaAsset],
    way: Callable[[ApiClient, ConnectedAccount, Any], Any],
) -> None:
    answer = way(api, account, media_of(assets[0], assets[1], assets[0]))

    details = assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]
    assert [(detail["field"], detail["code"]) for detail in details] == [("media[2].media_id", "repeated")]


def test_assets_can_be_used_only_in_their_workspace(
    owner: User, teammate: User, stranger: User, account: ConnectedAccount, assets: list[MediaAsset]
) -> None:
    body = body_for(account, media=media_of(assets[0]), workspace_id=account.workspace_id)
    theirs = AccountFactory(workspace=stranger.owned_workspaces.get())
    smuggled = body_for(theirs, media=media_of(assets[0]), workspace_id=theirs.workspace_id)

    assert as_user(owner).post("/posts", body).status_code == 201
    assert as_user(teammate).post("/posts/validate", body).json()["valid"] is True
    details = assert_envelope(as_user(stranger).post("/posts", smuggled), 422, "VALIDATION_FAILED")["details"]
    assert [detail["field"] for detail in details] == ["media[0].media_id"]


def test_a_batch_is_all_or_nothing_for_media_too(
    api: ApiClient, account: ConnectedAccount, assets: list[MediaAsset], clock: Any
) -> None:
    posts = [body_for(account, media=media_of(*shown), scheduled_at=TOMORROW) for shown in (assets[:2], assets[1:])]
    wrong = {**posts[1], "media": [*media_of(assets[0]), {"media_id": new_id("med")}]}

    details = assert_envelope(batch(api, posts[0], wrong), 422, "VALIDATION_FAILED")["details"]
    assert [detail["field"] for detail in details] == ["posts[1].media[1].media_id"]
    assert deletable(api, *assets) == [True, True, True]
    assert_nothing_written()

    made = groups_in(batch(api, *posts))
    assert [group["media"] for group in made] == [media_of(*assets[:2]), media_of(*assets[1:])]
    assert deletable(api, *assets) == [False, False, False]


@pytest.mark.parametrize("number", [1, 3])
def test_the_assets_of_a_request_are_read_with_one_query(
    api: ApiClient, account: ConnectedAccount, assets: list[MediaAsset], number: int
) -> None:
    body = body_for(account, media=media_of(*assets[:number]))
    several = {"posts": [body] * number, "dry_run": True}

    for path, sent in (("/posts/validate", body), ("/posts", {**body, "dry_run": True}), ("/posts/batch", several)):
        with CaptureQueriesContext(connection) as asked:
            assert api.post(path, sent).status_code < 300
        assert sum("media_mediaasset" in query["sql"] for query in asked) == 1


def test_more_assets_need_no_more_queries(
    api: ApiClient, account: ConnectedAccount, assets: list[MediaAsset], clock: Any
) -> None:
    counts = []
    for text, number in (("One", 1), ("Two", 1), ("Three", 3)):  # the first use of a key is written down
        with CaptureQueriesContext(connection) as asked:
            create(api, account, text=text, media=media_of(*assets[:number]), scheduled_at=TOMORROW)
        counts.append(len(asked))

    assert counts[1] == counts[2]


def test_the_same_text_with_other_pictures_is_not_a_duplicate(
    api: ApiClient, account: ConnectedAccount, assets: list[MediaAsset], clock: Any
) -> None:
    create(api, account, media=media_of(*assets[:2]))
    create(api, account, text="", media=media_of(assets[2]))

    def repeated(**fields: Any) -> bool:
        [target] = api.post("/posts/validate", body_for(account, **fields)).json()["targets"]
        return "DUPLICATE_CONTENT" in [issue["code"] for issue in target["issues"]]

    assert repeated(media=media_of(*assets[:2], alt_text="Told otherwise"))
    assert repeated(text="", media=media_of(assets[2]))
    assert not repeated(media=media_of(assets[1], assets[0]))
    assert not repeated(media=media_of(assets[0]))
    assert not repeated()
