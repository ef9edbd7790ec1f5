"""What an earlier try has published is found, whatever X makes of it, and nothing else is taken for it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from accounts.platforms.errors import (
    AccountDisconnected,
    ConnectionUnavailable,
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    RateLimited,
    TokenExpired,
    Transient,
)
from accounts.platforms.types import Absent, Content, Grant, Progress, Published
from accounts.platforms.x.adapter import X
from tests.accounts.platforms.media_files import media_file, picture
from tests.accounts.platforms.x.scripted_server import ScriptedServer
from tests.accounts.platforms.x.steps import go_to, look, post, publish, step, thread
from tests.fakes.http_server import Answer
from tests.fakes.x import FakeX
from tests.fakes.x_methods import CREATE, TIMELINE

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
BEGUN = Progress("create", {"since": NOW.isoformat(), "media": [], "described": 0, "sent": []})


def lose(x: X, server: FakeX, grant: Grant, content: Content, *, taken: bool = True) -> Progress:
    """The progress of a publication whose last answer never came."""
    progress = go_to("create", x, grant, content)
    server.drop_next(CREATE, after_accept=taken)
    with pytest.raises(OutcomeUnknown):
        step(x, grant, content, progress)
    return progress


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
def test_a_text_is_found_as_x_writes_it(x: X, server: FakeX, grant: Grant, text: str) -> None:
    server.post("alice", "Before")
    progress = lose(x, server, grant, post(text))
    server.post("alice", "After")

    found = look(x, grant, post(text), progress)

    assert isinstance(found, Published)
    assert found.external_id == server.posts("alice")[1]["id"]
    assert found.permalink == f"https://x.com/alice/status/{found.external_id}"


def test_what_was_not_taken_is_not_found_and_reads_nothing(x: X, server: FakeX, grant: Grant) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        grant = x.refresh(grant)
        server.post("alice", "Hello")
        clock.shift(timedelta(minutes=6))
        progress = lose(x, server, grant, post(), taken=False)

        assert isinstance(look(x, grant, post(), progress), Absent)
        assert server.posts_read == 0


def test_the_clocks_of_both_sides_may_differ(x: X, server: FakeX, grant: Grant) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        grant = x.refresh(grant)
        progress = go_to("create", x, grant, post())
        clock.shift(timedelta(minutes=-4))
        made = step(x, grant, post(), progress)
        clock.shift(timedelta(minutes=4))

        assert look(x, grant, post(), progress) == made


@pytest.mark.parametrize("text", ["Hello", "Hello worlds", "Hello world https://example.com", "Hello w0rld"])
def test_another_text_is_another_post(x: X, scripted: ScriptedServer, scripted_grant: Grant, text: str) -> None:
    scripted.list_posts({"id": "8", "text": text}, {"id": "7", "text": "🎉"})

    assert isinstance(look(x, scripted_grant, post("Hello world"), BEGUN), Absent)
    assert isinstance(look(x, scripted_grant, post("🎈"), BEGUN), Absent)


def test_a_post_with_media_is_known_by_them_whatever_it_says(x: X, server: FakeX, grant: Grant) -> None:
    content = post("Look", media_file(picture()), media_file(picture(colour="red")))
    server.post("alice", "Look")
    progress = lose(x, server, grant, content)
    found = look(x, grant, content, progress)
    assert isinstance(found, Published)
    assert found.external_id == server.posts("alice")[1]["id"]

    edited = server.edit(found.external_id, "Looked")

    found = look(x, grant, content, progress)
    assert isinstance(found, Published)
    assert found.external_id == edited


def test_a_text_alone_is_no_post_with_media_nor_a_reply(x: X, server: FakeX, grant: Grant) -> None:
    progress = lose(x, server, grant, post("Look"), taken=False)
    publish(x, grant, post("Look", media_file(picture())))
    server.post("alice", "Look", reply_to=server.posts("alice")[0]["id"])

    assert isinstance(look(x, grant, post("Look"), progress), Absent)


def test_a_segment_is_known_by_what_it_replies_to(x: X, server: FakeX, grant: Grant) -> None:
    content = thread("One", "Two")
    progress = step(x, grant, content, go_to("create", x, grant, content))
    assert isinstance(progress, Progress)
    server.post("alice", "Two")
    assert isinstance(look(x, grant, content, progress), Absent)

    answer = server.post("alice", "Two", reply_to=progress.state["sent"][0])

    found = look(x, grant, content, progress)
    assert isinstance(found, Published)
    assert found.external_id == progress.state["sent"][0] != answer


@pytest.mark.parametrize(
    "change",
    [
        {"text": "hello!"},
        {"text": "Something else", "edit_history_tweet_ids": ["5", "8"]},
        {"text": "ＨＥＬＬＯ"},
    ],
)
def test_a_post_that_may_be_ours_and_was_changed_leaves_the_outcome_open(
    x: X, scripted: ScriptedServer, scripted_grant: Grant, change: dict[str, Any]
) -> None:
    scripted.list_posts({"id": "8", **change})

    with pytest.raises(OutcomeUnknown) as caught:
        look(x, scripted_grant, post(), BEGUN)

    assert caught.value.final


def test_an_unchanged_post_outweighs_a_doubtful_one(x: X, scripted: ScriptedServer, scripted_grant: Grant) -> None:
    scripted.list_posts({"id": "9", "text": "hello"}, {"id": "8", "text": "Hello"}, {"id": "7", "text": "Hello!"})

    found = look(x, scripted_grant, post(), BEGUN)

    assert isinstance(found, Published)
    assert found.external_id == "8"


def test_the_posts_since_are_read_page_by_page_to_a_bound(x: X, server: FakeX, grant: Grant) -> None:
    progress = lose(x, server, grant, post())
    for number in range(299):
        server.post("alice", f"After {number}")
    assert isinstance(look(x, grant, post(), progress), Published)
    assert server.posts_read == 300

    server.post("alice", "One more")

    with pytest.raises(OutcomeUnknown) as caught:
        look(x, grant, post(), progress)
    assert caught.value.final


def test_what_may_be_a_segment_that_was_changed_is_for_a_person_to_judge(
    x: X, scripted: ScriptedServer, scripted_grant: Grant
) -> None:
    replied = {"referenced_tweets": [{"type": "replied_to", "id": "5"}]}
    scripted.list_posts({"id": "8", "text": "two", **replied})
    progress = Progress("create", {**BEGUN.state, "sent": ["5"]})

    with pytest.raises(OutcomeUnknown, match="may be this one with changes"):
        look(x, scripted_grant, thread("One", "Two"), progress)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer.of_json({"title": "Unauthorized"}, 401), TokenExpired),
        (Answer.of_json({"detail": "Your account is suspended."}, 403), AccountDisconnected),
        (Answer.of_json({"title": "CreditsDepleted"}, 402), ConnectionUnavailable),
        (Answer(429), RateLimited),
        (Answer(503), Transient),
        (Answer(404), Transient),
        (Answer(200, b"<html>"), Transient),
        (Answer.of_json({"errors": [{"detail": "Could not find user"}]}), Transient),
        (Answer.of_json({"meta": {"result_count": 1}}), Transient),
        (Answer.of_json({"meta": {"result_count": 0}, "errors": [{"title": "Authorization Error"}]}), Transient),
        (Answer.of_json({"data": ["8"], "meta": {"result_count": 1}}), Transient),
        (Answer.of_json({"data": [{"text": "Hello"}], "meta": {"result_count": 1}}), Transient),
    ],
)
def test_a_fault_while_looking_is_no_answer(
    x: X, scripted: ScriptedServer, scripted_grant: Grant, answer: Answer, fault: type[PlatformError]
) -> None:
    scripted.answers[TIMELINE] = answer

    with pytest.raises(PlatformError) as caught:
        look(x, scripted_grant, post(), BEGUN)

    assert type(caught.value) is fault


def test_x_refuses_a_repetition_of_what_an_earlier_try_has_published(x: X, server: FakeX, grant: Grant) -> None:
    progress = lose(x, server, grant, post())

    published = step(x, grant, post(), progress)

    assert isinstance(published, Published)
    assert [made["id"] for made in server.posts("alice")] == [published.external_id]


def test_a_repetition_of_something_older_is_rejected(x: X, server: FakeX, grant: Grant) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        grant = x.refresh(grant)
        server.post("alice", "Hello")
        clock.shift(timedelta(minutes=30))

        with pytest.raises(ContentRejected, match="duplicate content"):
            publish(x, grant, post())

    assert len(server.posts("alice")) == 1


def test_a_repetition_that_cannot_be_looked_at_is_tried_again(x: X, server: FakeX, grant: Grant) -> None:
    progress = lose(x, server, grant, post())
    server.fail_next(TIMELINE)
    with pytest.raises(Transient):
        step(x, grant, post(), progress)

    assert isinstance(step(x, grant, post(), progress), Published)
    assert len(server.posts("alice")) == 1


def test_a_repetition_of_what_is_not_listed_leaves_the_outcome_open(x: X, server: FakeX, grant: Grant) -> None:
    progress = lose(x, server, grant, post())
    server.list_nothing()
    assert isinstance(look(x, grant, post(), progress), Absent)

    with pytest.raises(OutcomeUnknown) as caught:
        step(x, grant, replace(post(), attempt=2), progress)

    assert caught.value.final
    assert len(server.posts("alice")) == 1
