from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from accounts.platforms.errors import ContentRejected
from accounts.platforms.instagram.adapter import Instagram
from accounts.platforms.instagram.capabilities import CAPABILITIES, count_hashtags
from accounts.platforms.types import Grant, Progress, Published
from tests.accounts.platforms.instagram.files import image, video
from tests.accounts.platforms.media_files import MP4, picture
from tests.accounts.platforms.meta.steps import go_to, post, publish, step
from tests.fakes.instagram import MAKE, MEDIA, PUBLISH, FakeInstagram


def test_an_image_is_published_with_its_alt_text_without_a_search(
    instagram: Instagram, server: FakeInstagram, grant: Grant
) -> None:
    published = publish(instagram, grant, post("Hello #bread 👋", image(server, alt_text="Bread")))

    [made] = server.posts("alice")
    assert (made["caption"], made["given"]) == ("Hello #bread 👋", {})
    assert made["files"] == [(picture(form="JPEG"), "Bread")]
    assert published == Published(made["id"], f"https://www.instagram.com/p/C{made['id']}/")
    assert server.requests_to(MEDIA) == 0
    assert instagram.irreversible == {"create", "comment"}


def test_a_single_video_is_a_reel(instagram: Instagram, server: FakeInstagram, grant: Grant) -> None:
    options = {"post_type": "reel", "share_to_feed": False, "thumb_offset": 1500, "collaborators": ["bob", "carol.c"]}
    for given in ({}, options):
        publish(instagram, grant, post("Look", video(server), **given))

    plain, chosen = server.posts("alice")
    assert (plain["given"], plain["files"]) == ({"media_type": "REELS"}, [(MP4, "")])
    assert chosen["given"] == {
        "media_type": "REELS",
        "share_to_feed": "false",
        "thumb_offset": "1500",
        "collaborators": json.dumps(["bob", "carol.c"]),
    }


def test_a_carousel_mixes_images_and_videos_in_order(instagram: Instagram, server: FakeInstagram, grant: Grant) -> None:
    files = [image(server, "red", "Red"), video(server), image(server, "blue")]
    publish(instagram, grant, post("Look", *files))

    [made] = server.posts("alice")
    assert made["files"] == [
        (picture(form="JPEG", colour="red"), "Red"),
        (MP4, ""),
        (picture(form="JPEG", colour="blue"), ""),
    ]
    assert (made["caption"], made["given"]) == ("Look", {"media_type": "CAROUSEL"})
    assert (server.requests_to(MAKE), server.requests_to(PUBLISH)) == (4, 1)


def test_a_story_shows_one_file_and_no_text(instagram: Instagram, server: FakeInstagram, grant: Grant) -> None:
    publish(instagram, grant, post("Not shown", image(server, alt_text="Not sent"), post_type="story"))
    publish(instagram, grant, post("", video(server), post_type="story"))

    assert [(made["caption"], made["given"]) for made in server.posts("alice")] == [
        ("", {"media_type": "STORIES"}),
        ("", {"media_type": "STORIES"}),
    ]


def test_processing_is_waited_for_with_growing_pauses(instagram: Instagram, server: FakeInstagram, grant: Grant) -> None:
    server.process_media(checks=3)
    content = post("Look", video(server))
    progress, pauses = go_to("process", instagram, grant, content), []
    while progress.phase == "process":
        following = step(instagram, grant, content, progress)
        assert isinstance(following, Progress)
        progress = following
        pauses.append(following.ready_at)

    assert [at is not None for at in pauses] == [True, True, True, False]
    assert pauses[0] < pauses[1] < pauses[2]  # type: ignore[operator]
    assert server.posts("alice") == []
    step(instagram, grant, content, progress)
    assert len(server.posts("alice")) == 1


def test_a_first_comment_follows_the_post(instagram: Instagram, server: FakeInstagram, grant: Grant) -> None:
    published = publish(instagram, grant, post("Look", image(server), first_comment="#bread #berlin"))

    [made] = server.posts("alice")
    assert (made["id"], made["comments"]) == (published.external_id, ["#bread #berlin"])
    assert published.note == ""


@pytest.mark.parametrize(
    ("files", "options", "words"),
    [
        ("", {}, "a post of text alone"),
        ("image", {"post_type": "reel"}, "A reel is one video"),
        ("image image", {"post_type": "story"}, "A story is one"),
        ("image", {"post_type": "story", "first_comment": "x"}, "no other options"),
        ("image", {"thumb_offset": 5}, "Only a reel"),
        ("image video", {"share_to_feed": True}, "Only a reel"),
        ("long", {"post_type": "story"}, "of up to 60 seconds"),
    ],
)
def test_invalid_combinations_are_refused_before_anything_is_sent(
    instagram: Instagram, server: FakeInstagram, grant: Grant, files: str, options: dict[str, Any], words: str
) -> None:
    lasts = {"video": 10_000, "long": 61_000}
    media = [video(server, lasts[kind]) if kind in lasts else image(server) for kind in files.split()]
    before = len(server.requests)

    with pytest.raises(ContentRejected, match=words):
        publish(instagram, grant, post("Hello", *media, **options))

    assert len(server.requests) == before


@pytest.mark.parametrize(
    ("options", "valid"),
    [
        ({}, True),
        ({"post_type": "reel", "share_to_feed": False, "thumb_offset": 0, "collaborators": ["bob"]}, True),
        ({"post_type": "story"}, True),
        ({"post_type": "story", "first_comment": "More"}, False),
        ({"post_type": "story", "collaborators": ["bob"]}, False),
        ({"thumb_offset": -1}, False),
        ({"collaborators": ["@bob"]}, False),
        ({"collaborators": ["a", "b", "c", "d"]}, False),
        ({"first_comment": " \n"}, False),
        ({"location_id": "1"}, False),
    ],
)
def test_options_are_validated_by_their_schema(options: dict[str, Any], valid: bool) -> None:
    assert jsonschema.Draft202012Validator(dict(CAPABILITIES.options)).is_valid(options) is valid


@pytest.mark.parametrize(
    ("fits", "too_long"), [("é" * 2200, "é" * 2201), ("#tag " * 30, "#tag " * 31)], ids=["characters", "hashtags"]
)
def test_the_length_is_counted_as_instagram_counts_it(
    instagram: Instagram, server: FakeInstagram, grant: Grant, fits: str, too_long: str
) -> None:
    rules = CAPABILITIES.text
    assert all(rules.count(text) <= 2200 and count_hashtags(text) <= 30 for text in [fits])
    assert rules.count(too_long) > 2200 or count_hashtags(too_long) > 30

    publish(instagram, grant, post(fits, image(server)))
    with pytest.raises(ContentRejected, match="caption"):
        publish(instagram, grant, post(too_long, image(server)))
