from __future__ import annotations

import pytest

from accounts.platforms.errors import ContentRejected
from accounts.platforms.instagram.adapter import Instagram
from accounts.platforms.instagram.capabilities import CAPABILITIES
from accounts.platforms.media_check import asset_issues
from accounts.platforms.text_check import TextCheckCache, length_issues
from accounts.platforms.types import Grant, MediaInfo
from tests.accounts.platforms.media_files import media_file, picture
from tests.accounts.platforms.meta.steps import post, publish
from tests.fakes.instagram import FakeInstagram

FEED, STORY = "post", "story"


@pytest.mark.parametrize(
    ("width", "height", "fits"),
    [(1080, 1350, True), (1080, 1351, False), (1200, 628, True), (1200, 620, False), (1080, 1920, False)],
)
def test_a_feed_picture_must_have_an_aspect_ratio_that_instagram_accepts(
    instagram: Instagram, server: FakeInstagram, grant: Grant, width: int, height: int, fits: bool
) -> None:
    assert _codes(FEED, width, height) == ([] if fits else ["MEDIA_SHAPE"])
    assert _codes(STORY, width, height) == []

    content = picture(width, height, form="JPEG")
    file = media_file(content, "image/jpeg", url=server.serve(content))
    publish(instagram, grant, post("", file, post_type=STORY))
    if fits:
        publish(instagram, grant, post("Look", file))
    else:
        with pytest.raises(ContentRejected):
            publish(instagram, grant, post("Look", file))

    assert len(server.posts("alice")) == 1 + fits


@pytest.mark.parametrize(
    ("hashtags", "found"),
    [
        (5, []),
        (6, [("TEXT_ABOVE_ADVISED", "warning")]),
        (30, [("TEXT_ABOVE_ADVISED", "warning")]),
        (31, [("TEXT_TOO_LONG", "error")]),
    ],
)
def test_more_than_five_hashtags_are_warned_of_and_more_than_thirty_refused(
    hashtags: int, found: list[tuple[str, str]]
) -> None:
    text = " ".join(f"#tag{number}" for number in range(hashtags))

    issues = length_issues("instagram", CAPABILITIES.text, text, "targets[0].text", {}, TextCheckCache(), media=["image"])

    assert [(issue.code, issue.severity) for issue in issues] == found


def _codes(post_type: str, width: int, height: int) -> list[str]:
    rules = CAPABILITIES.media_rules_for_options({"post_type": post_type})
    asset = MediaInfo("image", "image/jpeg", 200_000, width, height)
    return [issue.code for issue in asset_issues("instagram", rules, asset, "media[0]")]
