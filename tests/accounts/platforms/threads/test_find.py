"""What a lost answer to publishing meant: the container's status says whether it was published."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.platforms.errors import OutcomeUnknown, TokenExpired, Transient
from accounts.platforms.threads.adapter import Threads
from accounts.platforms.types import Absent, Grant, Progress, Published
from tests.accounts.platforms.media_files import picture
from tests.accounts.platforms.meta.steps import connect, error, go_to, look, post, publish, step
from tests.accounts.platforms.threads.steps import after, chain, hosted
from tests.fakes.http_server import Answer
from tests.fakes.threads import LIST, PUBLISH, REPLIES, SHOW, FakeThreads

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
THREE = chain("One", "Two", "Three")


def texts_of(server: FakeThreads) -> list[str]:
    return [made["text"] for made in server.posts("alice")]


@pytest.mark.parametrize("sent", [0, 1, 2])
@pytest.mark.parametrize("taken", [True, False])
def test_a_chain_goes_on_where_an_answer_was_lost(
    threads: Threads, server: FakeThreads, grant: Grant, sent: int, taken: bool
) -> None:
    progress = after(sent, threads, grant, THREE)
    server.drop_next(PUBLISH, after_accept=taken)
    with pytest.raises(OutcomeUnknown) as caught:
        step(threads, grant, THREE, progress)
    assert not caught.value.final

    found = look(threads, grant, THREE, progress)

    assert isinstance(found, Absent) is not taken
    published = publish(threads, grant, THREE, found if isinstance(found, Progress) else progress)
    assert texts_of(server) == ["One", "Two", "Three"]
    assert published.external_id == server.posts("alice")[0]["id"]


def test_the_post_is_told_from_those_of_others_and_of_before(threads: Threads, server: FakeThreads) -> None:
    server.add_profile("bob")
    with time_machine.travel(NOW, tick=False) as clock:
        grant = connect(threads, server).grant
        server.post("alice", "Hello")
        clock.shift(timedelta(minutes=6))
        server.post("bob", "Hello")
        server.post("alice", "Hello!")
        progress = go_to("publish", threads, grant, post("Hello"))
        step(threads, grant, post("Hello"), progress)

        found = look(threads, grant, post("Hello"), progress)

    assert isinstance(found, Progress)
    made = server.posts("alice")[-1]
    assert publish(threads, grant, post("Hello"), found) == Published(
        made["id"], f"https://www.threads.com/@alice/post/{made['id']}"
    )


def test_a_post_of_the_same_words_but_another_kind_is_not_it(
    threads: Threads, server: FakeThreads, grant: Grant
) -> None:
    server.post("alice", "Look")
    content = post("Look", hosted(server, picture()))
    progress = go_to("publish", threads, grant, content)
    step(threads, grant, content, progress)

    found = look(threads, grant, content, progress)

    assert isinstance(found, Progress)
    assert found.state["out"]["external_id"] == server.posts("alice")[-1]["id"]


def test_two_posts_that_say_the_same_are_not_told_from_each_other(
    threads: Threads, server: FakeThreads, grant: Grant
) -> None:
    progress = go_to("publish", threads, grant, post("Hello"))
    step(threads, grant, post("Hello"), progress)
    server.post("alice", " Hello\n")

    with pytest.raises(OutcomeUnknown) as caught:
        look(threads, grant, post("Hello"), progress)

    assert caught.value.final


def test_what_is_published_and_not_listed_yet_is_looked_for_again(
    threads: Threads, server: FakeThreads, grant: Grant
) -> None:
    progress = go_to("publish", threads, grant, post("Hello"))
    step(threads, grant, post("Hello"), progress)
    server.list_nothing()
    with pytest.raises(Transient):
        look(threads, grant, post("Hello"), progress)

    server.list_nothing(False)
    assert not isinstance(look(threads, grant, post("Hello"), progress), Absent)


def test_the_last_segment_needs_no_list(threads: Threads, server: FakeThreads, grant: Grant) -> None:
    progress = after(2, threads, grant, THREE)
    step(threads, grant, THREE, progress)
    server.list_nothing()

    found = look(threads, grant, THREE, progress)

    assert isinstance(found, Progress)
    assert publish(threads, grant, THREE, found).external_id == server.posts("alice")[0]["id"]
    assert server.requests_to(REPLIES) == 0


def test_a_container_that_is_shown_as_a_post_was_published(threads: Threads, server: FakeThreads, grant: Grant) -> None:
    server.show_posts_only()
    progress = go_to("publish", threads, grant, post("Hello"))
    assert isinstance(look(threads, grant, post("Hello"), progress), Absent)
    step(threads, grant, post("Hello"), progress)

    assert not isinstance(look(threads, grant, post("Hello"), progress), Absent)


@pytest.mark.parametrize("taken", [True, False])
def test_where_the_container_is_gone_the_profile_is_looked_at(
    threads: Threads, server: FakeThreads, grant: Grant, taken: bool
) -> None:
    progress = go_to("publish", threads, grant, post("Hello"))
    if taken:
        step(threads, grant, post("Hello"), progress)
    server.forget_containers()

    if taken:
        assert not isinstance(look(threads, grant, post("Hello"), progress), Absent)
    else:
        with pytest.raises(OutcomeUnknown) as caught:
            look(threads, grant, post("Hello"), progress)
        assert caught.value.final


def test_an_expired_container_was_not_published_and_is_made_again(threads: Threads, server: FakeThreads) -> None:
    content = post("Look", hosted(server, picture()))
    with time_machine.travel(NOW, tick=False) as clock:
        grant = connect(threads, server).grant
        progress = go_to("publish", threads, grant, content)
        clock.shift(timedelta(hours=25))

        assert isinstance(look(threads, grant, content, progress), Absent)
        publish(threads, grant, content, progress)

    assert [len(made["media"]) for made in server.posts("alice")] == [1]


@pytest.mark.parametrize(
    ("call", "answer", "expected"),
    [
        (SHOW, Answer.of_json({"id": "5", "status": "A_NEW_STATUS"}), Transient),
        (SHOW, Answer.of_json({"id": "5", "status": "IN_PROGRESS"}), Transient),
        (SHOW, error(190, status=401), TokenExpired),
        (LIST, Answer(200, b"{}"), Transient),
        (LIST, error(10, status=403), OutcomeUnknown),
        (LIST, Answer.of_json({"data": [], "paging": {"cursors": {"after": "x"}, "next": "y"}}), OutcomeUnknown),
    ],
)
def test_a_search_that_fails_proves_nothing(
    threads: Threads, server: FakeThreads, grant: Grant, call: str, answer: Answer, expected: type[Exception]
) -> None:
    progress = go_to("publish", threads, grant, post())
    step(threads, grant, post(), progress)
    server.refuse_next(call, answer, times=3)

    with pytest.raises(expected) as caught:
        look(threads, grant, post(), progress)

    assert type(caught.value) is expected
    assert server.requests_to(LIST) <= 3
