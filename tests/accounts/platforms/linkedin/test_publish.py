from __future__ import annotations

from typing import Any

import pytest

from accounts.platforms.errors import ContentRejected
from accounts.platforms.linkedin.capabilities import CAPABILITIES
from accounts.platforms.types import MediaFile, Published
from tests.accounts.platforms.adapter_steps import Account, bytes_of
from tests.accounts.platforms.linkedin.steps import MEMBER, PAGE, post
from tests.accounts.platforms.media_files import MP4, PDF, media_file, picture
from tests.fakes.linkedin import FakeLinkedIn
from tests.fakes.linkedin_methods import CREATE, PUT

CARD = {"url": "https://example.com/a?b=(c)", "title": "A (title)", "description": "What it_is"}


def test_a_text_is_published_by_one_call(server: FakeLinkedIn, member: Account) -> None:
    progress = member.go_to("create", post("Hello 👋"))
    assert server.posts(MEMBER) == []

    published = member.step(post("Hello 👋"), progress)

    [made] = server.posts(MEMBER)
    assert (made["text"], made["visibility"], made["content"]) == ("Hello 👋", "PUBLIC", {})
    assert published == Published(made["urn"], f"https://www.linkedin.com/feed/update/{made['urn']}/")
    assert member.adapter.irreversible == {"create", "comment"}


@pytest.mark.parametrize(
    ("text", "elements"),
    [
        (r"(all) [of] {it} <is> |plain| a_b * c ~ d \ e @ f #", []),
        ("See https://example.com/a_b(c)?d=[e]#f_g.", []),
        ("#launch day, #Zürich_2026 and (#1a) #日本", [("hashtag", tag) for tag in ("launch", "Zürich_2026", "1a", "日本")]),
        ("#2026 is no tag, a#b and #b-c", [("hashtag", "b")]),
        ("\uff03wide", [("hashtag", "wide")]),
        ("Thanks @[Acme & Co. (UK)](urn:li:organization:12)!", [("mention", "urn:li:organization:12")]),
        ("Not @[Eve](javascript:alert(1)) nor @[](urn:li:person:a) nor @alice", []),
        ("One\n\nTwo \u2192 ✅\n👨‍👩‍👧‍👦", []),
    ],
)
def test_a_text_is_shown_as_it_was_written(
    server: FakeLinkedIn, page: Account, text: str, elements: list[tuple[str, str]]
) -> None:
    page.publish(post(text))

    [made] = server.posts(PAGE)
    shown = text.replace("@[Acme & Co. (UK)](urn:li:organization:12)", "Acme & Co. (UK)")
    assert (made["text"], made["elements"]) == (shown, elements)


def test_3000_characters_are_accepted_before_they_are_escaped(server: FakeLinkedIn, page: Account) -> None:
    rules = CAPABILITIES.text
    fits, too_long = "(" * 3000, "(" * 3001
    assert rules.count(fits) <= rules.max_length < rules.count(too_long)

    page.publish(post(fits))
    with pytest.raises(ContentRejected, match="3000 characters"):
        page.publish(post(too_long))

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
def test_media_are_uploaded_unchanged_with_their_descriptions(
    server: FakeLinkedIn,
    member: Account,
    page: Account,
    author: str,
    names: list[str],
    options: dict[str, Any],
    shown: dict[str, Any],
) -> None:
    server.process_media(checks=2)
    content = post("", *files(*names), **options)

    published = (member if author == MEMBER else page).publish(content)

    [made] = server.posts(author)
    assert made["media"] == [bytes_of(file) for file in content.media]
    assert without_ids(made["content"]) == shown
    assert published.external_id == made["urn"]


def test_a_video_is_sent_in_the_parts_that_linkedin_names(server: FakeLinkedIn, page: Account) -> None:
    server.cut_videos_into(1000)
    [video] = files("video")

    page.publish(post("Look", video))

    assert server.requests_to(PUT) == -(-len(MP4) // 1000)
    assert [made["media"] for made in server.posts(PAGE)] == [[MP4]]


def test_a_lost_part_is_sent_again_by_itself(server: FakeLinkedIn, page: Account) -> None:
    server.cut_videos_into(1000)
    server.fail_next(PUT, 503)
    server.drop_next(PUT)
    [video] = files("video")

    page.publish(post("Look", video))

    assert server.requests_to(PUT) == -(-len(MP4) // 1000) + 2
    assert [made["media"] for made in server.posts(PAGE)] == [[MP4]]


def test_a_link_card_has_a_title_and_a_description(server: FakeLinkedIn, page: Account) -> None:
    page.publish(post("Read", article=CARD))
    page.publish(post("This", article={"url": CARD["url"], "title": CARD["title"]}))

    first, second = (made["content"]["article"] for made in server.posts(PAGE))
    assert first == {"source": CARD["url"], "title": CARD["title"], "description": CARD["description"]}
    assert second == {"source": CARD["url"], "title": CARD["title"]}


def test_a_member_may_post_for_connections_only(server: FakeLinkedIn, member: Account) -> None:
    member.publish(post(visibility="CONNECTIONS"))

    assert [made["visibility"] for made in server.posts(MEMBER)] == ["CONNECTIONS"]


def test_options_that_exclude_each_other_are_rejected_before_anything_is_sent(server: FakeLinkedIn, page: Account) -> None:
    asked = len(server.requests)
    for content, words in [
        (post(visibility="CONNECTIONS"), "no connections"),
        (post("Hello", *files("png"), article=CARD), "not both"),
    ]:
        with pytest.raises(ContentRejected, match=words):
            page.publish(content)
    assert len(server.requests) == asked


def test_the_first_comment_follows_the_post_as_it_is_written(server: FakeLinkedIn, page: Account) -> None:
    comment = "More (here): https://example.com/a_b #tag"

    published = page.publish(post("Hello", first_comment=comment))

    [made] = server.posts(PAGE)
    assert made["comments"] == [(PAGE, comment)]
    assert published.external_id == made["urn"]
    assert server.requests_to(CREATE) == 1


def test_a_comment_without_its_scope_fails_and_the_post_stays_published(server: FakeLinkedIn, member: Account) -> None:
    """This happens to a post that was scheduled before its account lost the scope; a new one is refused by its validation."""
    with pytest.raises(ContentRejected, match="does not let this login comment"):
        member.publish(post("Hello", first_comment="First!"))

    [made] = server.posts(MEMBER)
    assert (made["text"], made["comments"]) == ("Hello", [])


def without_ids(shown: dict[str, Any]) -> dict[str, Any]:
    """The content without the URNs of its uploads."""
    if "multiImage" in shown:
        return {
            "multiImage": {"images": [{k: v for k, v in each.items() if k != "id"} for each in shown["multiImage"]["images"]]}
        }
    return {"media": {k: v for k, v in shown["media"].items() if k != "id"}}
