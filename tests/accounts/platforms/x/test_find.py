"""Finding the post of an earlier attempt whose outcome is unknown."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, PlatformError, TokenExpired, Transient
from accounts.platforms.types import Grant, NotPublishedProof, Progress, Published
from tests.accounts.platforms.media_files import media_file, picture
from tests.accounts.platforms.x.steps import find, go_to, lose_response, post, publish, step, thread
from tests.fakes.http_server import Answer
from tests.fakes.x import FakeX
from tests.fakes.x_methods import TIMELINE
from tests.posts.rows import NOON

BEGUN = Progress("create", {"since": NOON.isoformat(), "media": [], "described": 0})


def list_posts(server: FakeX, *posts: dict[str, Any]) -> None:
    """Let X list these posts the next time, newest first."""
    server.refuse_next(TIMELINE, Answer.of_json({"data": list(posts), "meta": {"result_count": len(posts)}}))


@pytest.mark.parametrize(
    "text",
    [
        "Hello",
        "  Hello\r\n\r\nworld ",
        "Fish & chips < 5 > 3 &amp; &copy",
        "Read example.com and https://example.com/a?b=1&c=2#d, or HTTP://EXAMPLE.ORG!",
        "Cafe\u0301 in 日本語 👨‍👩‍👧‍👦",
        "🎉",
        "@bob $ABC #tag",
    ],
)
def test_a_text_is_found_although_x_rewrites_it(server: FakeX, grant: Grant, text: str) -> None:
    server.post("alice", "Before")
    progress = lose_response(server, grant, post(text))
    server.post("alice", "After")

    found = find(grant, post(text), progress)

    assert isinstance(found, Published)
    assert found.external_id == server.posts("alice")[1]["id"]
    assert found.permalink == f"https://x.com/alice/status/{found.external_id}"


def test_a_post_that_x_did_not_receive_is_absent_and_costs_nothing(server: FakeX, grant: Grant, clock: Any) -> None:
    server.post("alice", "Hello")
    clock.shift(timedelta(minutes=6))
    progress = lose_response(server, grant, post(), published=False)

    assert isinstance(find(grant, post(), progress), NotPublishedProof)
    assert server.posts_read == 0


def test_a_post_is_found_if_x_has_another_time(server: FakeX, grant: Grant, clock: Any) -> None:
    progress = go_to("create", grant, post())
    clock.shift(timedelta(minutes=-4))
    made = step(grant, post(), progress)
    clock.shift(timedelta(minutes=4))

    assert find(grant, post(), progress) == made


@pytest.mark.parametrize("text", ["Hello", "Hello worlds", "Hello world https://example.com", "Hello w0rld"])
def test_a_post_with_another_text_is_not_taken_for_the_post(server: FakeX, grant: Grant, text: str) -> None:
    for sent in ("Hello world", "🎈"):
        list_posts(server, {"id": "8", "text": text}, {"id": "7", "text": "🎉"})
        assert isinstance(find(grant, post(sent), BEGUN), NotPublishedProof)


def test_a_post_with_media_is_found_by_its_media_even_if_its_text_was_edited(server: FakeX, grant: Grant) -> None:
    content = post("Look", media_file(picture()), media_file(picture(colour="red")))
    server.post("alice", "Look")
    progress = lose_response(server, grant, content)
    found = find(grant, content, progress)
    assert isinstance(found, Published)
    assert found.external_id == server.posts("alice")[1]["id"]

    edited = server.edit(found.external_id, "Looked")

    found = find(grant, content, progress)
    assert isinstance(found, Published)
    assert found.external_id == edited


def test_a_post_with_media_or_a_reply_is_not_taken_for_a_text(server: FakeX, grant: Grant) -> None:
    progress = lose_response(server, grant, post("Look"), published=False)
    publish(grant, post("Look", media_file(picture())))
    server.post("alice", "Look", reply_to=server.posts("alice")[0]["id"])

    assert isinstance(find(grant, post("Look"), progress), NotPublishedProof)


def test_a_segment_is_found_by_the_post_that_it_replies_to(server: FakeX, grant: Grant) -> None:
    content = thread("One", "Two")
    progress = step(grant, content, go_to("create", grant, content))
    assert isinstance(progress, Progress)
    server.post("alice", "Two")
    assert isinstance(find(grant, content, progress), NotPublishedProof)

    answer = server.post("alice", "Two", reply_to=progress.segments[0])

    found = find(grant, content, progress)
    assert isinstance(found, Published)
    assert found.external_id == progress.segments[0] != answer


@pytest.mark.parametrize(
    "change", [{"text": "hello!"}, {"text": "Something else", "edit_history_tweet_ids": ["5", "8"]}, {"text": "ＨＥＬＬＯ"}]
)
def test_a_post_that_may_have_been_edited_leaves_the_outcome_unknown(
    server: FakeX, grant: Grant, change: dict[str, Any]
) -> None:
    list_posts(server, {"id": "8", **change})

    with pytest.raises(OutcomeUnknown) as caught:
        find(grant, post(), BEGUN)

    assert caught.value.final


def test_an_unchanged_post_is_preferred_to_a_similar_one(server: FakeX, grant: Grant) -> None:
    list_posts(server, {"id": "9", "text": "hello"}, {"id": "8", "text": "Hello"}, {"id": "7", "text": "Hello!"})

    found = find(grant, post(), BEGUN)

    assert isinstance(found, Published)
    assert found.external_id == "8"


def test_at_most_300_posts_are_read(server: FakeX, grant: Grant) -> None:
    progress = lose_response(server, grant, post())
    for number in range(299):
        server.post("alice", f"After {number}")
    assert isinstance(find(grant, post(), progress), Published)
    assert server.posts_read == 300

    server.post("alice", "One more")

    with pytest.raises(OutcomeUnknown) as caught:
        find(grant, post(), progress)
    assert caught.value.final


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer.of_json({"title": "Unauthorized"}, 401), TokenExpired),
        (Answer(503), Transient),
        (Answer(200, b"<html>"), Transient),
        (Answer.of_json({"errors": [{"detail": "Could not find user"}]}), Transient),
        (Answer.of_json({"meta": {"result_count": 1}}), Transient),
        (Answer.of_json({"meta": {"result_count": 0}, "errors": [{"title": "Authorization Error"}]}), Transient),
        (Answer.of_json({"data": ["8"], "meta": {"result_count": 1}}), Transient),
        (Answer.of_json({"data": [{"text": "Hello"}], "meta": {"result_count": 1}}), Transient),
    ],
)
def test_a_list_that_cannot_be_read_proves_nothing(
    server: FakeX, grant: Grant, answer: Answer, expected: type[PlatformError]
) -> None:
    server.refuse_next(TIMELINE, answer)

    with pytest.raises(PlatformError) as caught:
        find(grant, post(), BEGUN)

    assert type(caught.value) is expected


def test_a_refused_duplicate_leads_to_the_post_of_an_earlier_attempt(server: FakeX, grant: Grant) -> None:
    progress = lose_response(server, grant, post())

    published = step(grant, post(), progress)

    assert isinstance(published, Published)
    assert [made["id"] for made in server.posts("alice")] == [published.external_id]


def test_a_duplicate_of_an_older_post_is_rejected(server: FakeX, grant: Grant, clock: Any) -> None:
    server.post("alice", "Hello")
    clock.shift(timedelta(minutes=30))

    with pytest.raises(ContentRejected, match="duplicate content"):
        publish(grant, post())

    assert len(server.posts("alice")) == 1


def test_a_duplicate_is_tried_again_if_the_posts_cannot_be_listed(server: FakeX, grant: Grant) -> None:
    progress = lose_response(server, grant, post())
    server.fail_next(TIMELINE)
    with pytest.raises(Transient):
        step(grant, post(), progress)

    assert isinstance(step(grant, post(), progress), Published)
    assert len(server.posts("alice")) == 1


def test_a_duplicate_of_an_unlisted_post_leaves_the_outcome_unknown(server: FakeX, grant: Grant) -> None:
    progress = lose_response(server, grant, post())
    server.list_nothing()
    assert isinstance(find(grant, post(), progress), NotPublishedProof)

    with pytest.raises(OutcomeUnknown) as caught:
        step(grant, replace(post(), attempt=2), progress)

    assert caught.value.final
    assert len(server.posts("alice")) == 1
