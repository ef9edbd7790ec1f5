"""Options that go only with certain media, such as a reel, are refused before anything is published."""

from __future__ import annotations

from typing import Any

import pytest

from media.models import MediaAsset
from tests.conftest import ApiClient
from tests.factories import AccountFactory, MediaAssetFactory
from tests.posts.media_rows import media_of
from workspaces.models import Workspace

LINK = "https://example.com/"
CARD = {"url": LINK, "title": "Bread"}


def files_of(workspace: Workspace, kinds: str) -> list[MediaAsset]:
    """The assets of these kinds; a number is the seconds of a video."""
    return [
        MediaAssetFactory(workspace=workspace, width=1000, height=1000)
        if kind == "image"
        else MediaAssetFactory(workspace=workspace, kind="video", mime_type="video/mp4", duration_ms=int(kind) * 1000)
        for kind in kinds.split()
    ]


def content_of(workspace: Workspace, platform: str, kinds: str, options: dict[str, Any]) -> dict[str, Any]:
    account = AccountFactory(workspace=workspace, platform=platform)
    target = {"platform": platform, "connected_account_id": account.id, "options": options}
    return {"text": "Hello", "targets": [target], "media": media_of(*files_of(workspace, kinds))}


def refused_options(answer: Any) -> list[tuple[str, str]]:
    """The field and message of each option that does not go with the media."""
    assert answer.status_code == 422, answer.content
    found = [each for each in answer.json()["details"] if each["code"] == "OPTION_NOT_WITH_MEDIA"]
    assert all(each["repair_hint"]["action"] == "remove_option" for each in found)
    assert all(each["repair_hint"]["field"] == each["field"] for each in found)
    return [(each["field"].removeprefix("targets[0].options."), each["message"]) for each in found]


@pytest.mark.parametrize(
    ("platform", "kinds", "options", "said"),
    [
        ("instagram", "image", {"post_type": "reel"}, "A reel is one video."),
        ("instagram", "9 9", {"post_type": "reel"}, "A reel is one video."),
        ("instagram", "61", {"post_type": "story"}, "A story is one image, or one video of up to 60 seconds."),
        ("instagram", "image", {"thumb_offset": 5}, "Only a reel, which is one video, has a cover"),
        ("facebook", "image", {"post_type": "reel"}, "A reel is one video of 3 to 90 seconds."),
        ("facebook", "", {"post_type": "reel"}, "A reel is one video of 3 to 90 seconds."),
        ("facebook", "91", {"post_type": "reel"}, "A reel is one video of 3 to 90 seconds."),
        ("facebook", "image image", {"post_type": "story"}, "A story is one photo, or one video of 3 to 60 seconds."),
        ("facebook", "image", {"link": LINK}, "Facebook shows a link with a preview, or media."),
        ("facebook", "image", {"title": "Bread"}, "Only a video has a title."),
        ("threads", "image", {"link_attachment": LINK}, "A Threads post with media shows no link below it."),
        ("linkedin", "image", {"article": CARD}, "A LinkedIn post has media or a link card, but not both."),
    ],
)
def test_a_dry_run_refuses_options_that_do_not_go_with_the_media(
    api: ApiClient, workspace: Workspace, platform: str, kinds: str, options: dict[str, Any], said: str
) -> None:
    answer = api.post("/posts", content_of(workspace, platform, kinds, options) | {"dry_run": True})

    [(field, message)] = refused_options(answer)
    assert field in options
    assert message.startswith(said)


@pytest.mark.parametrize(
    ("platform", "kinds", "options"),
    [
        ("instagram", "9", {"post_type": "reel", "share_to_feed": False, "thumb_offset": 100}),
        ("instagram", "60", {"post_type": "story"}),
        ("instagram", "image image", {"post_type": "post"}),
        ("facebook", "90", {"post_type": "reel", "title": "Bread"}),
        ("facebook", "image", {"post_type": "story"}),
        ("facebook", "", {"link": LINK}),
        ("threads", "", {"link_attachment": LINK}),
        ("linkedin", "", {"article": CARD}),
    ],
)
def test_options_that_go_with_the_media_are_valid(
    api: ApiClient, workspace: Workspace, platform: str, kinds: str, options: dict[str, Any]
) -> None:
    answer = api.post("/posts", content_of(workspace, platform, kinds, options) | {"dry_run": True})

    assert answer.status_code == 201, answer.content
