from __future__ import annotations

from typing import Any

import pytest

from accounts.platforms.errors import ContentRejected
from accounts.platforms.types import Grant, Published
from accounts.platforms.x.capabilities import CAPABILITIES
from tests.accounts.platforms.media_files import media_file, picture
from tests.accounts.platforms.x.steps import go_to, post, publish, step
from tests.fakes.x import FakeX
from tests.fakes.x_methods import CREATE, TIMELINE

FAMILY = "👨‍👩‍👧‍👦"


def test_a_text_is_published_in_two_steps_without_reading_posts(server: FakeX, grant: Grant) -> None:
    progress = go_to("create", grant, post("Hello 👋"))
    assert server.posts("alice") == []

    published = step(grant, post("Hello 👋"), progress)

    [made] = server.posts("alice")
    assert (made["text"], made["options"], made["media"], made["reply_to"]) == ("Hello 👋", {}, [], None)
    assert published == Published(made["id"], f"https://x.com/alice/status/{made['id']}")
    assert server.requests_to(TIMELINE) == 0


@pytest.mark.parametrize(
    "options",
    [
        {"reply_settings": "verified"},
        {"reply_settings": "following", "made_with_ai": True, "paid_partnership": True},
        {"made_with_ai": False},
    ],
)
def test_options_are_sent_to_x(server: FakeX, grant: Grant, options: dict[str, Any]) -> None:
    publish(grant, post(**options))

    assert [made["options"] for made in server.posts("alice")] == [options]


def test_a_picture_needs_no_text(server: FakeX, grant: Grant) -> None:
    for text in ("", " \n"):
        publish(grant, post(text, media_file(picture())))

    assert [(made["text"], len(made["media"])) for made in server.posts("alice")] == [("", 1), ("", 1)]


@pytest.mark.parametrize(
    ("fits", "too_long"),
    [
        ("a" * 280, "a" * 281),
        ("日" * 140, "日" * 141),
        (FAMILY * 140, FAMILY * 141),
        ("é" * 280, "é" * 281),
        ("e\u0301" * 280, "e\u0301" * 281),
        ("a" * 256 + " example.com/" + "b" * 500, "a" * 257 + " example.com/" + "b" * 500),
        ("a" * 256 + " https://example.com/" + "b" * 500, "a" * 257 + " https://example.com"),
        ("“quoted”" * 35, "“quoted”" * 35 + "‐"),
    ],
)
def test_the_length_that_the_service_counts_is_the_one_that_x_counts(
    server: FakeX, grant: Grant, fits: str, too_long: str
) -> None:
    rules = CAPABILITIES.text
    assert rules.count(fits) <= rules.max_length < rules.count(too_long)

    publish(grant, post(fits))
    with pytest.raises(ContentRejected):
        publish(grant, post(too_long))

    assert len(server.posts("alice")) == 1
    assert server.requests_to(CREATE) == 2
