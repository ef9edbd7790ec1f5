from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from accounts.platforms.errors import ContentRejected
from accounts.platforms.facebook.adapter import Facebook
from accounts.platforms.facebook.capabilities import CAPABILITIES
from accounts.platforms.types import Grant, MediaFile, Progress, Published
from tests.accounts.platforms.media_files import MP4, media_file, picture
from tests.accounts.platforms.meta.steps import go_to, post, publish, step
from tests.fakes.facebook import COMMENT, FEED, POSTS, UPLOAD, FakeFacebook

RED, BLUE = (picture(colour=colour) for colour in ("red", "blue"))
VIDEO = media_file(MP4 * 2, "video/mp4", duration_ms=10_000)


def photos(*contents: bytes) -> list[MediaFile]:
    return [media_file(content, alt_text=f"Photo {number}") for number, content in enumerate(contents, start=1)]


def test_a_text_is_published_without_a_search(facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str) -> None:
    published = publish(facebook, grant, post("Hello 👋\nWorld"))

    [made] = server.posts(page_id)
    assert (made["message"], made["link"], made["photos"], made["comments"]) == ("Hello 👋\nWorld", "", [], [])
    number = made["id"].partition("_")[2]
    assert published == Published(made["id"], f"https://www.facebook.com/{page_id}/posts/{number}")
    assert server.requests_to(POSTS) == 0


def test_a_link_is_shown_with_or_without_a_text(facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str) -> None:
    for text in ("Read this", ""):
        publish(facebook, grant, post(text, link="https://example.com/a?b=c&d=e"))

    shown = [(made["message"], made["link"]) for made in server.posts(page_id)]
    assert shown == [("Read this", "https://example.com/a?b=c&d=e"), ("", "https://example.com/a?b=c&d=e")]


@pytest.mark.parametrize("contents", [[RED], [RED, BLUE], [picture(colour=f"#0000{n:02x}") for n in range(10)]])
def test_photos_arrive_unchanged_in_order_and_with_their_alt_texts(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str, contents: list[bytes]
) -> None:
    publish(facebook, grant, post("Look", *photos(*contents)))

    [made] = server.posts(page_id)
    assert made["photos"] == [(content, f"Photo {number}") for number, content in enumerate(contents, start=1)]
    assert made["message"] == "Look"


def test_a_video_is_sent_in_the_requested_parts_and_published_once_processed(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str
) -> None:
    server.process_videos(checks=2)
    content = post("Look", VIDEO, title="Bread")

    waiting = go_to("settle", facebook, grant, content)
    assert waiting.ready_at is not None
    later = step(facebook, grant, content, waiting)
    assert isinstance(later, Progress)
    assert later.ready_at is not None
    assert later.ready_at > waiting.ready_at
    published = publish(facebook, grant, content, later)

    [made] = server.videos(page_id)
    assert (made["edge"], made["content"], made["given"]) == ("videos", MP4 * 2, {"description": "Look", "title": "Bread"})
    assert published == Published(made["id"], f"https://www.facebook.com/reel/{made['id']}/")
    assert server.posts(page_id) == []


def test_a_reel_is_sent_whole(facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str) -> None:
    published = publish(facebook, grant, post("Look", VIDEO, post_type="reel"))

    [made] = server.videos(page_id)
    assert (made["edge"], made["content"], made["given"]) == ("video_reels", MP4 * 2, {"description": "Look"})
    assert published.external_id == made["id"]
    assert server.requests_to(UPLOAD) == 1


def test_a_story_shows_a_photo_or_a_video(facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str) -> None:
    photo = publish(facebook, grant, post("", *photos(RED), post_type="story"))
    video = publish(facebook, grant, post("Not shown", VIDEO, post_type="story"))

    assert server.stories_of(page_id) == [RED]
    [made] = server.videos(page_id)
    assert (made["edge"], made["content"], made["given"]) == ("video_stories", MP4 * 2, {})
    assert photo.permalink == f"https://facebook.com/stories/{photo.external_id}"
    assert video.permalink == f"https://facebook.com/stories/{video.external_id}"
    assert server.posts(page_id) == []


@pytest.mark.parametrize("media", [[], photos(RED, BLUE), [VIDEO]], ids=["text", "photos", "video"])
def test_a_first_comment_follows_the_post(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str, media: list[MediaFile]
) -> None:
    published = publish(facebook, grant, post("Look", *media, first_comment="More at example.com"))

    [made] = [*server.posts(page_id), *server.videos(page_id)]
    assert (made["id"], made["comments"]) == (published.external_id, ["More at example.com"])
    assert published.note == ""
    assert server.requests_to(COMMENT) == 1
    assert facebook.irreversible == {"create", "comment"}


def test_the_upload_address_is_encrypted_in_the_state(facebook: Facebook, server: FakeFacebook, grant: Grant) -> None:
    progress = go_to("send", facebook, grant, post("Look", VIDEO, post_type="reel"))

    assert server.url not in str(progress.state)
    assert grant.tokens["access_token"] not in str(progress.state)


@pytest.mark.parametrize(
    ("media", "options", "words"),
    [
        ([], {"post_type": "reel"}, "A reel is one video"),
        (photos(RED), {"post_type": "reel"}, "A reel is one video"),
        (photos(RED, BLUE), {"post_type": "story"}, "one photo, or one video"),
        ([media_file(MP4, "video/mp4", duration_ms=91_000)], {"post_type": "reel"}, "A reel is one video of 3 to 90 seconds"),
        ([media_file(MP4, "video/mp4", duration_ms=2_900)], {"post_type": "reel"}, "A reel is one video of 3 to 90 seconds"),
        ([media_file(MP4, "video/mp4", duration_ms=61_000)], {"post_type": "story"}, "one video of 3 to 60 seconds"),
        (photos(RED), {"link": "https://example.com"}, "a link with a preview, or media"),
        (photos(RED), {"title": "Bread"}, "Only a video has a title"),
        ([VIDEO], {"post_type": "story", "first_comment": "x"}, "no comment"),
    ],
)
def test_invalid_combinations_are_refused_before_anything_is_sent(
    facebook: Facebook, server: FakeFacebook, grant: Grant, media: list[MediaFile], options: dict[str, str], words: str
) -> None:
    before = len(server.requests)

    with pytest.raises(ContentRejected, match=words):
        publish(facebook, grant, post("Hello", *media, **options))

    assert len(server.requests) == before


@pytest.mark.parametrize(
    ("options", "valid"),
    [
        ({}, True),
        ({"post_type": "reel", "title": "Bread", "first_comment": "More"}, True),
        ({"post_type": "story"}, True),
        ({"post_type": "story", "first_comment": "More"}, False),
        ({"post_type": "story", "title": "Bread"}, False),
        ({"post_type": "album"}, False),
        ({"link": "javascript:alert(1)"}, False),
        ({"link": "https://example.com/a"}, True),
        ({"first_comment": " "}, False),
        ({"first_comment": "x" * 8001}, False),
        ({"audience": "all"}, False),
    ],
)
def test_options_are_validated_by_their_schema(options: dict[str, Any], valid: bool) -> None:
    assert jsonschema.Draft202012Validator(dict(CAPABILITIES.options)).is_valid(options) is valid


def test_the_length_is_counted_as_facebook_counts_it(facebook: Facebook, server: FakeFacebook, grant: Grant) -> None:
    most = CAPABILITIES.text.max_length
    assert CAPABILITIES.text.count("é" * most) == most

    publish(facebook, grant, post("é" * most))
    with pytest.raises(ContentRejected):
        publish(facebook, grant, post("é" * (most + 1)))

    assert server.requests_to(FEED) == 2
