"""The composer: cropping an attached image to a shape that a platform takes."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import ConnectedAccount
from media.models import MediaAsset
from tests.factories import AccountFactory, MediaAssetFactory
from tests.media.pictures import jpeg
from tests.posts.dashboard.dashboard import Dashboard, fields, typed, words
from workspaces.models import Workspace


@pytest.fixture
def instagram(workspace: Workspace) -> ConnectedAccount:
    return AccountFactory(workspace=workspace, platform="instagram")


@pytest.fixture
def tall(dashboard: Dashboard) -> MediaAsset:
    """An image of 300 × 600 pixels."""
    dashboard.compose("upload", file=SimpleUploadedFile("tower.jpg", jpeg(300, 600)))
    return MediaAsset.objects.get()


def test_a_crop_is_offered_previewed_and_used(dashboard: Dashboard, instagram: ConnectedAccount, tall: MediaAsset) -> None:
    other = MediaAssetFactory(workspace=dashboard.workspace)
    content = {"media": [other.id, tall.id], "extra": {f"alt-{tall.id}": "A tower"}}
    checked = dashboard.compose("check", instagram, live=True, **content)
    assert f'value="crop:{tall.id}:0.8"' in checked.content.decode()
    assert "Crop to 4:5…" in checked.content.decode()

    offered = dashboard.compose(f"crop:{tall.id}:0.8", instagram, live=True, **content)
    assert "Crop tower.jpg to 4:5" in words(offered)
    assert offered.content.decode().count(f'value="crop-use:{tall.id}:0.8:') == 3
    assert MediaAsset.objects.count() == 2

    used = dashboard.compose(f"crop-use:{tall.id}:0.8:start", instagram, live=True, **content)
    cropped = MediaAsset.objects.get(filename="tower 4-5.jpg")
    assert (cropped.width, cropped.height) == (300, 375)
    assert fields(used, "media") == [other.id, cropped.id]
    assert typed(used, f"alt-{cropped.id}") == "A tower"
    assert "Crop to" not in words(used)
    tall.refresh_from_db()
    assert (tall.status, tall.height) == ("ready", 600)


@pytest.mark.parametrize(
    "name", ["{id}:0.8:nowhere", "{id}:0:start", "{id}:1e9:start", "{id}:nan:start", "{id}", "med_other:0.8:start", ""]
)
def test_an_unknown_crop_changes_nothing(
    dashboard: Dashboard, instagram: ConnectedAccount, tall: MediaAsset, name: str
) -> None:
    page = dashboard.compose(f"crop-use:{name.format(id=tall.id)}", instagram, media=[tall.id])

    assert fields(page, "media") == [tall.id]
    assert MediaAsset.objects.count() == 1


def test_an_image_of_another_workspace_is_not_cropped(dashboard: Dashboard, instagram: ConnectedAccount) -> None:
    foreign = MediaAssetFactory()

    page = dashboard.compose(f"crop-use:{foreign.id}:0.8:start", instagram, media=[foreign.id])

    assert fields(page, "media") == []
    assert MediaAsset.objects.count() == 1


def test_a_crop_that_fails_says_why(
    dashboard: Dashboard, instagram: ConnectedAccount, tall: MediaAsset, settings: object
) -> None:
    settings.MEDIA_QUOTA_BYTES = tall.size_bytes  # type: ignore[attr-defined]

    page = dashboard.compose(f"crop-use:{tall.id}:0.8:start", instagram, media=[tall.id])

    assert "The image was not cropped." in words(page)
    assert fields(page, "media") == [tall.id]


def test_a_video_is_not_offered_to_be_cropped(dashboard: Dashboard, instagram: ConnectedAccount) -> None:
    video = MediaAssetFactory(workspace=dashboard.workspace, kind="video", mime_type="video/mp4", width=100, height=900)

    assert "Crop to" not in words(dashboard.compose("check", instagram, media=[video.id]))
