"""The composer: each problem that a button can mend is mended by it, and everything else stays as it was."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import ConnectedAccount
from media.models import MediaAsset
from tests.factories import AccountFactory, MediaAssetFactory
from tests.media.pictures import jpeg, noise, png
from tests.posts.dashboard.dashboard import Dashboard, fields, typed, words
from workspaces.models import Workspace


@pytest.fixture
def bluesky(workspace: Workspace) -> ConnectedAccount:
    return AccountFactory(workspace=workspace, platform="bluesky")


@pytest.fixture
def x(workspace: Workspace) -> ConnectedAccount:
    return AccountFactory(workspace=workspace, platform="x")


def pictures_of(workspace: Workspace, count: int) -> list[MediaAsset]:
    return [MediaAssetFactory(workspace=workspace, filename=f"{number}.jpg") for number in range(count)]


def video_of(workspace: Workspace) -> MediaAsset:
    return MediaAssetFactory(workspace=workspace, kind="video", mime_type="video/mp4", duration_ms=5000, filename="film.mp4")


def poll_of(account: ConnectedAccount, choices: list[str], minutes: int = 60) -> dict[str, Any]:
    return {f"{account.id}-poll.choices": "\n".join(choices), f"{account.id}-poll.duration_minutes": str(minutes)}


def repairs_on(page: Any) -> dict[str, str]:
    """The buttons that repair something: their values by their labels."""
    found = re.findall(r'<button[^>]*value="(repair:[^"]+)"[^>]*>([^<]+)<', page.content.decode())
    return {html.unescape(label): html.unescape(value) for value, label in found}


def press(dashboard: Dashboard, label: str, *accounts: ConnectedAccount, **content: Any) -> Any:
    """Press the button with this label on the composer's page after a check of the content."""
    checked = dashboard.compose("check", *accounts, **content)
    assert "problem" in words(checked)
    return dashboard.compose(repairs_on(checked)[label], *accounts, **content)


def test_too_many_pictures_become_as_many_as_each_platform_takes(
    dashboard: Dashboard, workspace: Workspace, bluesky: ConnectedAccount
) -> None:
    pinterest = AccountFactory(workspace=workspace, platform="pinterest")
    ids = [each.id for each in pictures_of(workspace, 6)]
    content: dict[str, Any] = {"media": ids, "extra": {f"alt-{ids[1]}": "The second", f"{pinterest.id}-board": "News"}}
    checked = dashboard.compose("check", bluesky, pinterest, **content)
    assert {"Keep only the first 4 images", "Keep only the first 5 images"} <= set(repairs_on(checked))
    assert "This changes the post for all accounts." in words(checked)

    five = press(dashboard, "Keep only the first 5 images", bluesky, pinterest, **content)
    four = press(dashboard, "Keep only the first 4 images", bluesky, pinterest, **content)

    assert (fields(five, "media"), fields(four, "media")) == (ids[:5], ids[:4])
    assert typed(four, f"alt-{ids[1]}") == "The second"
    assert typed(four, "text") == "Hello"
    assert "Valid for all accounts." in words(four)


def test_pictures_beside_too_many_videos_stay(dashboard: Dashboard, workspace: Workspace) -> None:
    instagram = AccountFactory(workspace=workspace, platform="instagram")
    videos = [video_of(workspace) for _ in range(10)]
    picture = MediaAssetFactory(workspace=workspace)
    ids = [videos[0].id, picture.id, *(each.id for each in videos[1:])]

    page = press(dashboard, "Keep only the first 10 files", instagram, media=ids)

    assert fields(page, "media") == ids[:10]
    assert "Valid for this account." in words(page)


def test_of_several_videos_the_first_is_kept(dashboard: Dashboard, workspace: Workspace, bluesky: ConnectedAccount) -> None:
    ids = [video_of(workspace).id for _ in range(2)]

    page = press(dashboard, "Keep only the first one", bluesky, media=ids)

    assert fields(page, "media") == ids[:1]
    assert "Valid for this account." in words(page)


@pytest.mark.parametrize("kept", ["images", "videos"])
def test_of_pictures_and_a_video_one_kind_is_kept(
    dashboard: Dashboard, workspace: Workspace, bluesky: ConnectedAccount, kept: str
) -> None:
    first, last = pictures_of(workspace, 2)
    ids = [first.id, video_of(workspace).id, last.id]

    page = press(dashboard, f"Keep only the {kept}", bluesky, media=ids)

    assert fields(page, "media") == ([first.id, last.id] if kept == "images" else [ids[1]])
    assert "Valid for this account." in words(page)


@pytest.mark.parametrize(
    ("platform", "minutes", "words_of_label", "mended"),
    [
        ("x", 20_000, "7 days", "10080"),
        ("x", 2, "5 minutes", "5"),
        ("discord", 100, "1 hour", "60"),
        ("discord", 50_000, "32 days", "46080"),
    ],
)
def test_the_duration_of_a_poll_becomes_one_that_the_platform_has(
    dashboard: Dashboard, workspace: Workspace, platform: str, minutes: int, words_of_label: str, mended: str
) -> None:
    account = AccountFactory(workspace=workspace, platform=platform)
    extra = poll_of(account, ["Tea", "Coffee"], minutes)

    page = press(dashboard, f"Set the duration to {words_of_label}", account, extra=extra)

    assert fields(page, f"{account.id}-poll.duration_minutes") == [mended]
    assert typed(page, f"{account.id}-poll.choices") == "Tea\nCoffee"
    assert "Valid for this account." in words(page)


def test_too_many_choices_of_a_poll_become_fewer(dashboard: Dashboard, x: ConnectedAccount) -> None:
    page = press(dashboard, "Keep only the first 4 choices", x, extra=poll_of(x, ["1", "2", "3", "4", "5", "6"]))

    assert typed(page, f"{x.id}-poll.choices") == "1\n2\n3\n4"
    assert "Valid for this account." in words(page)


def test_a_poll_with_too_few_choices_is_removed(dashboard: Dashboard, x: ConnectedAccount) -> None:
    page = press(dashboard, "Remove the poll", x, extra=poll_of(x, ["Tea"]) | {f"{x.id}-reply_settings": "following"})

    assert typed(page, f"{x.id}-poll.choices") == ""
    assert 'value="following" selected' in page.content.decode()
    assert "Valid for this account." in words(page)


def test_a_poll_or_the_media_is_removed_where_they_cannot_be_together(
    dashboard: Dashboard, workspace: Workspace, x: ConnectedAccount
) -> None:
    [picture] = pictures_of(workspace, 1)
    content: dict[str, Any] = {"media": [picture.id], "extra": poll_of(x, ["Tea", "Coffee"])}

    without_poll = press(dashboard, "Remove the poll", x, **content)
    without_media = press(dashboard, "Remove all media", x, **content)

    assert (typed(without_poll, f"{x.id}-poll.choices"), fields(without_poll, "media")) == ("", [picture.id])
    assert (typed(without_media, f"{x.id}-poll.choices"), fields(without_media, "media")) == ("Tea\nCoffee", [])
    assert "Valid for this account." in words(without_poll)
    assert "Valid for this account." in words(without_media)


def test_a_choice_that_repeats_another_is_removed_if_enough_remain(dashboard: Dashboard, workspace: Workspace) -> None:
    mastodon = AccountFactory(workspace=workspace, platform="mastodon")

    page = press(dashboard, "Remove the choice", mastodon, extra=poll_of(mastodon, ["Tea", "Coffee", "Tea"]))

    assert typed(page, f"{mastodon.id}-poll.choices") == "Tea\nCoffee"
    assert "Valid for this account." in words(page)
    two = dashboard.compose("check", mastodon, extra=poll_of(mastodon, ["Tea", "Tea"]))
    assert repairs_on(two) == {}


def test_an_empty_part_of_a_thread_is_removed(dashboard: Dashboard, bluesky: ConnectedAccount) -> None:
    page = press(dashboard, "Remove the part", bluesky, extra={f"thread-{bluesky.id}": ["", "And more"]})
    assert typed(page, f"thread-{bluesky.id}") == "And more"
    assert "Valid for this account." in words(page)

    page = press(dashboard, "Remove the part", bluesky, extra={f"thread-{bluesky.id}": [""]})
    assert f'name="thread-{bluesky.id}"' not in page.content.decode()
    assert "Valid for this account." in words(page)


@pytest.mark.parametrize(
    "name",
    ["media|MEDIA_TOO_MANY|image:4", "media|MEDIA_MIXED|image-image-video", "targets[0].options.poll|POLL_WITH_MEDIA|x"],
)
def test_a_repair_of_an_issue_that_is_gone_changes_nothing(
    dashboard: Dashboard, workspace: Workspace, bluesky: ConnectedAccount, name: str
) -> None:
    ids = [each.id for each in pictures_of(workspace, 2)]

    page = dashboard.compose(f"repair:{name}", bluesky, media=ids)

    assert fields(page, "media") == ids


def test_a_reel_that_is_a_picture_becomes_an_ordinary_post(dashboard: Dashboard, workspace: Workspace) -> None:
    instagram = AccountFactory(workspace=workspace, platform="instagram")
    picture = MediaAssetFactory(workspace=workspace, width=1000, height=1000)
    content: dict[str, Any] = {"media": [picture.id], "extra": {f"{instagram.id}-post_type": "reel"}}
    assert "A reel is one video." in words(dashboard.compose("check", instagram, **content))

    page = press(dashboard, "Make it an ordinary post", instagram, **content)

    assert fields(page, "media") == [picture.id]
    assert 'value="reel" selected' not in page.content.decode()
    assert "Valid for this account." in words(page)


def test_a_title_without_a_video_is_left_out(dashboard: Dashboard, workspace: Workspace) -> None:
    facebook = AccountFactory(workspace=workspace, platform="facebook")

    page = press(dashboard, "Leave out “Title”", facebook, extra={f"{facebook.id}-title": "Bread"})

    assert fields(page, f"{facebook.id}-title") in ([], [""])
    assert "Valid for this account." in words(page)


def uploaded(dashboard: Dashboard, name: str, content: bytes) -> MediaAsset:
    dashboard.compose("upload", file=SimpleUploadedFile(name, content))
    return MediaAsset.objects.get(filename=name)


def test_a_picture_of_a_type_that_is_not_accepted_becomes_a_jpeg(dashboard: Dashboard, workspace: Workspace) -> None:
    instagram = AccountFactory(workspace=workspace, platform="instagram")
    drawing, other = uploaded(dashboard, "drawing.png", png(400, 400)), uploaded(dashboard, "other.jpg", jpeg(400, 400))
    content: dict[str, Any] = {"media": [other.id, drawing.id], "extra": {f"alt-{drawing.id}": "A drawing"}}

    page = press(dashboard, "Convert it to JPEG.", instagram, **content)

    made = MediaAsset.objects.get(filename="drawing.jpg")
    assert (made.mime_type, made.width, made.height) == ("image/jpeg", 400, 400)
    assert fields(page, "media") == [other.id, made.id]
    assert typed(page, f"alt-{made.id}") == "A drawing"
    assert "Valid for this account." in words(page)
    drawing.refresh_from_db()
    assert (drawing.status, drawing.mime_type) == ("ready", "image/png")


def test_a_picture_that_is_too_large_is_compressed(dashboard: Dashboard, bluesky: ConnectedAccount) -> None:
    heavy = uploaded(dashboard, "heavy.png", noise(1000, 800))
    assert heavy.size_bytes > 2_000_000

    page = press(dashboard, "Compress it to 1.9\xa0MB or less.", bluesky, media=[heavy.id])

    made = MediaAsset.objects.get(filename="heavy.jpg")
    assert made.size_bytes <= 2_000_000
    assert fields(page, "media") == [made.id]
    assert "Valid for this account." in words(page)


def test_a_picture_with_too_many_pixels_is_scaled_down(dashboard: Dashboard, workspace: Workspace) -> None:
    telegram = AccountFactory(workspace=workspace, platform="telegram")
    wide = uploaded(dashboard, "wide.jpg", jpeg(9000, 2000))

    page = press(dashboard, "Scale it down to 8,181 × 1,818 pixels.", telegram, media=[wide.id])

    made = MediaAsset.objects.exclude(id=wide.id).get()
    assert (made.width, made.height) == (8181, 1818)
    assert fields(page, "media") == [made.id]
    assert "Valid for this account." in words(page)


def test_a_conversion_that_fails_says_why(dashboard: Dashboard, workspace: Workspace, settings: Any) -> None:
    instagram = AccountFactory(workspace=workspace, platform="instagram")
    drawing = uploaded(dashboard, "drawing.png", png(400, 400))
    settings.MEDIA_QUOTA_BYTES = drawing.size_bytes

    page = press(dashboard, "Convert it to JPEG.", instagram, media=[drawing.id])

    assert "The image was not converted." in words(page)
    assert fields(page, "media") == [drawing.id]


def test_a_video_that_cannot_be_converted_is_removed(dashboard: Dashboard, workspace: Workspace) -> None:
    x = AccountFactory(workspace=workspace, platform="x")
    film = MediaAssetFactory(workspace=workspace, kind="video", mime_type="video/webm", size_bytes=10**10)

    page = press(dashboard, "Remove this file", x, text="Rye", media=[film.id])

    assert fields(page, "media") == []
    assert "Valid for this account." in words(page)


def test_of_files_that_are_too_large_together_the_last_is_removed(dashboard: Dashboard, workspace: Workspace) -> None:
    discord = AccountFactory(workspace=workspace, platform="discord")
    ids = [MediaAssetFactory(workspace=workspace, size_bytes=9_000_000).id for _ in range(4)]

    assert "Compress them to" in words(dashboard.compose("check", discord, media=ids))
    page = press(dashboard, "Remove the last file", discord, media=ids)

    assert fields(page, "media") == ids[:3]


def test_a_picture_of_another_workspace_is_not_converted(dashboard: Dashboard, workspace: Workspace) -> None:
    instagram = AccountFactory(workspace=workspace, platform="instagram")
    foreign = MediaAssetFactory(mime_type="image/png", filename="foreign.png")

    page = dashboard.compose(f"repair:media[0]|MEDIA_TYPE_NOT_TAKEN|{foreign.id}:8388608", instagram, media=[foreign.id])

    assert fields(page, "media") == []
    assert MediaAsset.objects.count() == 1
