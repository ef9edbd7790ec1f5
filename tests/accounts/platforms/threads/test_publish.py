from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from accounts.platforms.errors import ContentRejected
from accounts.platforms.threads.adapter import Threads
from accounts.platforms.threads.capabilities import CAPABILITIES
from accounts.platforms.types import Content, Grant, MediaFile, Progress, Published
from tests.accounts.platforms.media_files import MP4, picture
from tests.accounts.platforms.meta.steps import post, publish, step
from tests.accounts.platforms.threads.steps import chain, hosted
from tests.fakes.threads import LIST, MAKE, PUBLISH, FakeThreads

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
JPEG = picture(form="JPEG")


def phases(threads: Threads, grant: Grant, content: Content) -> list[str]:
    """The phases of a publication, in order."""
    taken = []
    progress: Progress | Published = Progress("start")
    while isinstance(progress, Progress):
        taken.append(progress.phase)
        progress = step(threads, grant, content, progress)
    return taken


def test_a_text_is_published_in_five_steps(threads: Threads, server: FakeThreads, grant: Grant) -> None:
    published = publish(threads, grant, post("Hello 👋 & #one"))

    [made] = server.posts("alice")
    assert (made["kind"], made["text"], made["media"], made["reply_to"]) == ("TEXT", "Hello 👋 & #one", [], None)
    assert published == Published(made["id"], f"https://www.threads.com/@alice/post/{made['id']}")
    assert threads.irreversible == {"publish"}
    assert (server.requests_to(MAKE), server.requests_to(PUBLISH), server.requests_to(LIST)) == (1, 1, 0)
    assert phases(threads, grant, post("Two")) == ["start", "container", "wait", "publish", "permalink"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"reply_control": "mentioned_only", "topic_tag": "Baking bread"},
        {"link_attachment": "https://example.com/a?b=c&d=(e)"},
    ],
)
def test_options_are_sent_unchanged(threads: Threads, server: FakeThreads, grant: Grant, options: dict[str, Any]) -> None:
    publish(threads, grant, post(**options))

    assert [made["options"] for made in server.posts("alice")] == [options]


@pytest.mark.parametrize(
    ("content", "mime_type", "kind"),
    [(picture(), "image/png", "IMAGE"), (JPEG, "image/jpeg", "IMAGE"), (MP4, "video/mp4", "VIDEO")],
)
def test_a_picture_or_a_video_is_fetched_by_threads_and_needs_no_text(
    threads: Threads, server: FakeThreads, grant: Grant, content: bytes, mime_type: str, kind: str
) -> None:
    server.process(checks=2)
    publish(threads, grant, post("Look", hosted(server, content, mime_type, alt_text="Ein Stück Käse 🧀")))
    publish(threads, grant, post("", hosted(server, content, mime_type)))

    first, second = server.posts("alice")
    assert (first["text"], first["media"]) == ("Look", [(kind, content, "Ein Stück Käse 🧀")])
    assert (second["text"], second["media"]) == ("", [(kind, content, None)])


def test_a_carousel_mixes_pictures_and_videos_in_their_order(threads: Threads, server: FakeThreads, grant: Grant) -> None:
    server.process(checks=1)
    files = [
        hosted(server, picture(colour="red"), alt_text="A flower"),
        hosted(server, MP4, "video/mp4"),
        hosted(server, JPEG, "image/jpeg", alt_text="A bench"),
    ]
    content = post("Look", *files, reply_control="everyone")

    with time_machine.travel(NOW, tick=False):
        taken = phases(threads, grant, content)

    # The containers of the files are created one after the other, and processed together.
    assert [phase for phase in taken if phase != "wait"] == ["start", *["container"] * 4, "publish", "permalink"]
    assert server.requests_to(MAKE) == 4
    [made] = server.posts("alice")
    assert (made["kind"], made["text"], made["options"]) == ("CAROUSEL", "Look", {"reply_control": "everyone"})
    assert made["media"] == [("IMAGE", picture(colour="red"), "A flower"), ("VIDEO", MP4, None), ("IMAGE", JPEG, "A bench")]


def test_media_are_waited_for_with_growing_pauses(threads: Threads, server: FakeThreads, grant: Grant) -> None:
    server.process(checks=6)
    content, pauses = post("Look", hosted(server, MP4, "video/mp4")), []
    with time_machine.travel(NOW, tick=False):
        progress: Progress | Published = Progress("start")
        while isinstance(progress, Progress) and progress.phase != "publish":
            progress = step(threads, grant, content, progress)
            if isinstance(progress, Progress) and progress.ready_at:
                pauses.append((progress.ready_at - NOW).total_seconds())

    assert pauses == [5, 10, 20, 40, 60, 60, 60]


FAMILY = "👨‍👩‍👧‍👦"


@pytest.mark.parametrize(
    ("fits", "too_long"),
    [("a" * 500, "a" * 501), ("é日" * 250, "é日" * 251), (FAMILY * 20, FAMILY * 21), ("😀" * 125, "😀" * 125 + "a")],
)
def test_the_length_is_counted_as_threads_counts_it(
    threads: Threads, server: FakeThreads, grant: Grant, fits: str, too_long: str
) -> None:
    rules = CAPABILITIES.text
    assert rules.count(fits) <= rules.max_length < rules.count(too_long)

    publish(threads, grant, post(fits))
    with pytest.raises(ContentRejected, match="at most 500 characters"):
        publish(threads, grant, post(too_long))

    assert len(server.posts("alice")) == 1


FIVE_LINKS = "https://example.com/1 https://example.com/2 https://example.com/3 www.example.org www.example.com"
SIX_LINKS = f"{FIVE_LINKS} https://example.com/6"


def test_five_different_links_are_published(threads: Threads, server: FakeThreads, grant: Grant) -> None:
    repeated = f"{FIVE_LINKS} https://example.com/1"

    publish(threads, grant, post(repeated, link_attachment="https://example.com/2", thread=[{"text": FIVE_LINKS}]))

    assert [made["text"] for made in server.posts("alice")] == [repeated, FIVE_LINKS]


def test_segments_reply_to_each_other_and_the_first_ones_id_is_reported(
    threads: Threads, server: FakeThreads, grant: Grant
) -> None:
    content = post(
        "One", hosted(server, picture()), reply_control="followers_only", thread=[{"text": "Two"}, {"text": "Two"}]
    )

    published = publish(threads, grant, content)

    first, second, third = server.posts("alice")
    assert [(made["text"], made["reply_to"]) for made in (first, second, third)] == [
        ("One", None),
        ("Two", first["id"]),
        ("Two", second["id"]),
    ]
    assert [len(made["media"]) for made in (first, second, third)] == [1, 0, 0]
    assert [made["options"] for made in (second, third)] == [{}, {}]
    assert published.external_id == first["id"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (chain("One", "a" * 501), "Segment 2 counts 501 characters_emoji_bytes; Threads takes 500."),
        (chain("One", " \n"), "Segment 2 is empty."),
        (chain("One", SIX_LINKS), "Segment 2 counts 6 links; Threads takes 5."),
        (post(SIX_LINKS), "Threads accepts 5 different links in a post"),
        (post(FIVE_LINKS, link_attachment="https://example.com/6"), "Threads accepts 5 different links in a post"),
        (post("One", MediaFile("image", "image/png", 1), link_attachment="https://example.com/"), "shows no link"),
    ],
)
def test_invalid_posts_are_refused_before_anything_is_sent(
    threads: Threads, server: FakeThreads, grant: Grant, content: Content, words: str
) -> None:
    asked = len(server.requests)

    with pytest.raises(ContentRejected, match=words):
        publish(threads, grant, content)

    assert len(server.requests) == asked
