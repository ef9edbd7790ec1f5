from __future__ import annotations

from typing import Any

import pytest

from accounts.platforms.errors import ContentRejected
from accounts.platforms.linkedin.adapter import LinkedIn
from accounts.platforms.linkedin.capabilities import CAPABILITIES
from accounts.platforms.types import Grant, MediaFile, Published
from tests.accounts.platforms.linkedin.steps import MEMBER, PAGE, go_to, post, publish, step
from tests.accounts.platforms.media_files import MP4, PDF, media_file, picture
from tests.fakes.linkedin import FakeLinkedIn
from tests.fakes.linkedin_methods import CREATE, PUT

CARD = {"url": "https://example.com/a?b=(c)", "title": "A (title)", "description": "What it_is"}


def test_a_text_is_one_call_and_its_address_follows_from_the_answer(
    linkedin: LinkedIn, server: FakeLinkedIn, member: Grant
) -> None:
    progress = go_to("create", linkedin, member, post("Hello 👋"))
    assert server.posts(MEMBER) == []

    published = step(linkedin, member, post("Hello 👋"), progress)

    [made] = server.posts(MEMBER)
    assert (made["text"], made["visibility"], made["content"]) == ("Hello 👋", "PUBLIC", {})
    assert published == Published(made["urn"], f"https://www.linkedin.com/feed/update/{made['urn']}/")
    assert linkedin.irreversible == {"create", "comment"}


@pytest.mark.parametrize(
    ("text", "elements"),
    [
        (r"(all) [of] {it} <is> |plain| a_b * c ~ d \ e @ f #", []),
        ("See https://example.com/a_b(c)?d=[e]#f_g.", []),
        (
            "#launch day, #Zürich_2026 and (#1a) #日本",
            [("hashtag", tag) for tag in ("launch", "Zürich_2026", "1a", "日本")],
        ),
        ("#2026 is no tag, a#b and #b-c", [("hashtag", "b")]),
        ("\uff03wide", [("hashtag", "wide")]),
        ("Thanks @[Acme & Co. (UK)](urn:li:organization:12)!", [("mention", "urn:li:organization:12")]),
        ("Not @[Eve](javascript:alert(1)) nor @[](urn:li:person:a) nor @alice", []),
        ("One\n\nTwo \u2192 ✅\n👨‍👩‍👧‍👦", []),
    ],
)
def test_a_text_is_shown_as_it_was_written(
    linkedin: LinkedIn, server: FakeLinkedIn, page: Grant, text: str, elements: list[tuple[str, str]]
) -> None:
    publish(linkedin, page, post(text))

    [made] = server.posts(PAGE)
    shown = text.replace("@[Acme & Co. (UK)](urn:li:organization:12)", "Acme & Co. (UK)")
    assert (made["text"], made["elements"]) == (shown, elements)


def test_3000_characters_are_taken_before_they_are_escaped(
    linkedin: LinkedIn, server: FakeLinkedIn, page: Grant
) -> None:
    rules = CAPABILITIES.text
    fits, too_long = "(" * 3000, "(" * 3001
    assert rules.count(fits) <= rules.max_length < rules.count(too_long)

    publish(linkedin, page, post(fits))
    with pytest.raises(ContentRejected, match="3000 characters"):
        publish(linkedin, page, post(too_long))

    assert len(server.posts(PAGE)) == 1


def files(*names: str) -> list[MediaFile]:
    made = {
        "jpeg": media_file(picture(form="JPEG"), "image/jpeg", alt_text="A flower"),
        "png": media_file(picture(), alt_text="Käse 🧀"),
        "gif": media_file(picture(form="GIF"), "image/gif", kind="gif", alt_text="A dance"),
        "bare": media_file(picture(colour="red")),
        "video": media_file(MP4, "video/mp4", alt_text="No place for this"),
        "pdf": media_file(PDF, "application/pdf", filename="plan.pdf"),
    }
    return [made[name] for name in names]


@pytest.mark.parametrize("author", [MEMBER, PAGE])
@pytest.mark.parametrize(
    ("names", "options", "shown"),
    [
        (["jpeg"], {}, {"media": {"altText": "A flower"}}),
        (["bare"], {}, {"media": {}}),
        (["gif"], {}, {"media": {"altText": "A dance"}}),
        (["png", "bare"], {}, {"multiImage": {"images": [{"altText": "Käse 🧀"}, {}]}}),
        (["video"], {}, {"media": {}}),
        (["video"], {"title": "A film"}, {"media": {"title": "A film"}}),
        (["pdf"], {}, {"media": {"title": "plan.pdf"}}),
        (["pdf"], {"title": "The plan"}, {"media": {"title": "The plan"}}),
    ],
)
def test_media_arrive_unchanged_and_described(
    linkedin: LinkedIn,
    server: FakeLinkedIn,
    member: Grant,
    page: Grant,
    author: str,
    names: list[str],
    options: dict[str, Any],
    shown: dict[str, Any],
) -> None:
    server.process_media(looks=2)
    content = post("", *files(*names), **options)

    published = publish(linkedin, member if author == MEMBER else page, content)

    [made] = server.posts(author)
    assert made["media"] == [opened(file) for file in content.media]
    assert without_ids(made["content"]) == shown
    assert published.external_id == made["urn"]


def test_a_video_is_sent_in_the_parts_that_linkedin_names(
    linkedin: LinkedIn, server: FakeLinkedIn, page: Grant
) -> None:
    server.cut_videos_into(1000)
    [video] = files("video")

    publish(linkedin, page, post("Look", video))

    assert server.requests_to(PUT) == -(-len(MP4) // 1000)
    assert [made["media"] for made in server.posts(PAGE)] == [[MP4]]


def test_a_part_that_was_lost_on_the_way_is_sent_again_by_itself(
    linkedin: LinkedIn, server: FakeLinkedIn, page: Grant
) -> None:
    server.cut_videos_into(1000)
    server.fail_next(PUT, 503)
    server.drop_next(PUT)
    [video] = files("video")

    publish(linkedin, page, post("Look", video))

    assert server.requests_to(PUT) == -(-len(MP4) // 1000) + 2
    assert [made["media"] for made in server.posts(PAGE)] == [[MP4]]


def test_a_card_is_given_in_words(linkedin: LinkedIn, server: FakeLinkedIn, page: Grant) -> None:
    publish(linkedin, page, post("Read", article=CARD))
    publish(linkedin, page, post("This", article={"url": CARD["url"], "title": CARD["title"]}))

    first, second = (made["content"]["article"] for made in server.posts(PAGE))
    assert first == {"source": CARD["url"], "title": CARD["title"], "description": CARD["description"]}
    assert second == {"source": CARD["url"], "title": CARD["title"]}


def test_a_member_may_post_for_connections_only(linkedin: LinkedIn, server: FakeLinkedIn, member: Grant) -> None:
    publish(linkedin, member, post(visibility="CONNECTIONS"))

    assert [made["visibility"] for made in server.posts(MEMBER)] == ["CONNECTIONS"]


def test_what_does_not_go_together_is_refused_before_anything_is_sent(
    linkedin: LinkedIn, server: FakeLinkedIn, page: Grant
) -> None:
    asked = len(server.requests)
    for content, words in [
        (post(visibility="CONNECTIONS"), "no connections"),
        (post("Hello", *files("png"), article=CARD), "not both"),
    ]:
        with pytest.raises(ContentRejected, match=words):
            publish(linkedin, page, content)
    assert len(server.requests) == asked


def test_the_first_comment_follows_the_post_as_it_is_written(
    linkedin: LinkedIn, server: FakeLinkedIn, page: Grant
) -> None:
    comment = "More (here): https://example.com/a_b #tag"

    published = publish(linkedin, page, post("Hello", first_comment=comment))

    [made] = server.posts(PAGE)
    assert made["comments"] == [(PAGE, comment)]
    assert published.external_id == made["urn"]
    assert server.requests_to(CREATE) == 1


def test_a_grant_without_the_scope_of_comments_leaves_the_post_alone(
    linkedin: LinkedIn, server: FakeLinkedIn, member: Grant
) -> None:
    """As for a post that was scheduled before its account lost the scope; a new one is refused by its validation."""
    with pytest.raises(ContentRejected, match="does not let this login comment"):
        publish(linkedin, member, post("Hello", first_comment="First!"))

    [made] = server.posts(MEMBER)
    assert (made["text"], made["comments"]) == ("Hello", [])


def opened(file: MediaFile) -> bytes:
    with file.open() as content:
        return content.read()


def without_ids(shown: dict[str, Any]) -> dict[str, Any]:
    """The content without the URNs of its uploads."""
    if "multiImage" in shown:
        return {
            "multiImage": {
                "images": [{k: v for k, v in each.items() if k != "id"} for each in shown["multiImage"]["images"]]
            }
        }
    return {"media": {k: v for k, v in shown["media"].items() if k != "id"}}
