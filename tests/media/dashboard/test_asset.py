"""The page of one asset: properties, platforms, alt text, posts that use it, and deletion."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import ConnectedAccount
from auditlog.models import AuditEntry
from config.db.ids import creation_time_of_id
from media.models import MediaAsset
from media.tasks import purge_deleted_files
from posts.attached_media import media_files_for_adapter
from posts.models import PostGroup
from tests.conftest import ApiClient
from tests.factories import MediaAssetFactory
from tests.media.pictures import jpeg
from tests.pages import Pages, form_of, has_form, words
from tests.posts.media_rows import media_of
from tests.posts.rows import create
from workspaces.models import Member, User, Workspace

Stored = Callable[[], list[bytes]]
committed = pytest.mark.django_db(transaction=True)  # what follows a commit does not happen in a test's transaction


@pytest.fixture
def picture(workspace: Workspace) -> MediaAsset:
    return MediaAssetFactory(workspace=workspace, filename="bench.png", mime_type="image/png")


def field(asset: MediaAsset) -> str:
    return f"{asset.id}-alt_text"


def test_the_page_of_a_picture_shows_its_properties_and_the_accepting_platforms(
    pages: Pages, picture: MediaAsset, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(12):
        page = pages.get("media-asset", media_id=picture.id)

    text = words(page)
    for fact in ("Image image/png", "195.3", "1200 × 1200 pixels", "Clean", picture.id, "No unpublished post uses this file"):
        assert fact in text
    assert "Accepted by: Bluesky," in text
    assert "Instagram does not accept PNG files. It accepts JPEG. Convert it to JPEG." in text
    assert "YouTube does not accept images." in text
    assert 'alt="A bench in the workshop"' in page.content.decode()


def test_the_page_of_a_video_shows_its_duration_and_a_player(pages: Pages, workspace: Workspace) -> None:
    video = MediaAssetFactory(
        workspace=workspace, kind="video", mime_type="video/mp4", filename="clip.mp4", duration_ms=3_723_500
    )

    page = pages.get("media-asset", media_id=video.id)

    assert "Duration 1:02:03.5" in words(page)
    assert "<video " in page.content.decode()


def test_a_changed_alt_text_applies_to_posts_without_their_own(
    pages: Pages, picture: MediaAsset, api: ApiClient, account: ConnectedAccount
) -> None:
    tomorrow = (timezone.now() + timedelta(days=1)).isoformat()
    own = [{"media_id": picture.id, "alt_text": "Its own"}]
    groups = [create(api, account, media=media, scheduled_at=tomorrow)["id"] for media in (media_of(picture), own)]
    page = pages.get("media-asset", media_id=picture.id)
    assert "including scheduled ones" in words(page)

    form = form_of(page) | {field(picture): "Two people\r\non a bench"}
    text = pages.post("media-asset", form, media_id=picture.id, follow=True)

    assert "The alt text is saved." in words(text)
    texts = [media_files_for_adapter(PostGroup.objects.get(pk=pk))[0].alt_text for pk in groups]
    assert texts == ["Two people\non a bench", "Its own"]
    entry = AuditEntry.objects.get(operation="media.describe")
    assert (entry.actor_type, entry.resource_id) == ("user", picture.id)
    assert "people" not in str(entry.metadata)


def test_an_unchanged_alt_text_is_not_recorded(pages: Pages, picture: MediaAsset) -> None:
    pages.post("media-asset", {field(picture): picture.alt_text}, media_id=picture.id)

    assert not AuditEntry.objects.exists()


def test_an_alt_text_too_long_for_one_platform_is_a_warning_and_for_all_is_refused(pages: Pages, picture: MediaAsset) -> None:
    long = pages.post("media-asset", {field(picture): "x" * 1200}, media_id=picture.id, follow=True)
    longest = pages.post("media-asset", {field(picture): "x" * 10_001}, media_id=picture.id)

    assert "This alt text is too long for Discord, X" in words(long)
    assert "The alt text is 200 characters too long for X, which allows 1,000." in words(long)
    assert (longest.status_code, "10001 characters; the maximum is 10000" in words(longest)) == (422, True)
    assert MediaAsset.objects.get().alt_text == "x" * 1200


def test_an_asset_used_by_a_post_is_linked_and_not_deleted(
    pages: Pages, picture: MediaAsset, api: ApiClient, account: ConnectedAccount
) -> None:
    group = PostGroup.objects.get(pk=create(api, account, draft=True, media=media_of(picture))["id"])
    page = pages.get("media-asset", media_id=picture.id)

    assert f'href="{pages.address("post", post_group_id=group.id)}"' in page.content.decode()
    assert (
        f'<time datetime="{creation_time_of_id(group.id):%Y-%m-%dT%H:%M:%SZ}"'
        in page.content.decode().partition('id="uses"')[2]
    )
    assert "This file cannot be deleted while that post uses it." in words(page)
    assert not has_form(page, pages.address("media-delete", media_id=picture.id))

    text = pages.post("media-delete", media_id=picture.id, follow=True)
    assert "An unfinished post uses this asset." in words(text)
    assert MediaAsset.objects.get().status == "ready"
    assert AuditEntry.objects.get(operation="media.delete").code == "MEDIA_IN_USE"


@committed
def test_a_file_is_deleted_for_good(pages: Pages, api: ApiClient, stored: Stored) -> None:
    media = api.upload(jpeg()).json()["media"]
    page = pages.get("media-asset", media_id=media["id"])
    action = pages.address("media-delete", media_id=media["id"])

    text = pages.http.post(action, form_of(page, action), follow=True)

    assert f"{media['filename']} was deleted." in words(text)
    assert stored() == []
    assert Client().get(media["url"]).status_code == 404
    gone = pages.get("media-asset", media_id=media["id"])
    assert "removed from the storage" in words(gone)
    assert not has_form(gone)
    assert not has_form(gone, action)


@committed
def test_a_file_that_could_not_be_removed_is_reported(
    pages: Pages, api: ApiClient, settings: Settings, tmp_path: Any
) -> None:
    media_id = api.upload(jpeg()).json()["media"]["id"]
    settings.MEDIA_ROOT = tmp_path / "broken"
    (tmp_path / "broken" / MediaAsset.objects.get().storage_key / "a folder, which is no file").mkdir(parents=True)
    pages.post("media-delete", media_id=media_id)
    before = words(pages.get("media-asset", media_id=media_id))
    settings.MEDIA_ROOT = tmp_path / "storage"
    purge_deleted_files()

    assert "could not be removed from the storage yet" in before
    assert "removed from the storage" in words(pages.get("media-asset", media_id=media_id))


@pytest.mark.parametrize("who", ["teammate", "stranger"])
def test_only_owners_and_admins_can_change_an_asset(
    request: pytest.FixtureRequest, workspace: Workspace, picture: MediaAsset, who: str
) -> None:
    user: User = request.getfixturevalue(who)
    others = Pages(workspace, user)
    page = others.get("media-asset", media_id=picture.id)

    assert page.status_code == (200 if who == "teammate" else 404)
    assert "<form" not in page.content.decode().partition("<main")[2]
    for name in ("media-asset", "media-delete"):
        others.post(name, {field(picture): "Theirs"}, media_id=picture.id)
    asset = MediaAsset.objects.get()
    assert (asset.alt_text, asset.status) == (picture.alt_text, "ready")


def test_an_asset_is_found_only_in_its_own_workspace(pages: Pages, owner: User) -> None:
    """Even for a member of both workspaces."""
    other = Workspace.objects.create(name="Other", slug="other", owner_user=owner)
    Member.objects.create(workspace=other, user=owner, role="owner")
    asset = MediaAssetFactory(workspace=other)

    assert pages.get("media-asset", media_id=asset.id).status_code == 404
    assert pages.get("media-asset", media_id="nonsense").status_code == 404
    for name in ("media-asset", "media-delete"):
        assert pages.post(name, {field(asset): "Mine"}, media_id=asset.id)["location"] == pages.address("home")
    unchanged = MediaAsset.objects.get()
    assert (unchanged.alt_text, unchanged.status) == (asset.alt_text, "ready")


def test_forms_need_their_token_and_a_workspace_that_is_not_paused(
    workspace: Workspace, owner: User, pages: Pages, picture: MediaAsset
) -> None:
    guarded = Pages(workspace, owner, csrf=True)
    for name in ("media-asset", "media-delete"):
        assert guarded.post(name, {field(picture): "Forged"}, media_id=picture.id).status_code == 403
    Workspace.objects.update(status="paused")
    text = pages.post("media-asset", {field(picture): "Late"}, media_id=picture.id, follow=True)

    assert "paused" in words(text)
    assert MediaAsset.objects.get().alt_text == picture.alt_text
