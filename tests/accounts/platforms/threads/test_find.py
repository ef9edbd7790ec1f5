"""Finding the Threads post after a lost response: the container's status says whether it was published."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.platforms.errors import OutcomeUnknown, TokenExpired, Transient
from accounts.platforms.threads.adapter import Threads
from accounts.platforms.types import Grant, NotPublishedProof, Progress, Published
from tests.accounts.platforms.media_files import picture
from tests.accounts.platforms.meta.steps import connect, error, find_post, go_to, post, publish, step
from tests.accounts.platforms.threads.steps import after, chain, hosted
from tests.fakes.http_server import Answer
from tests.fakes.threads import LIST, PUBLISH, REPLIES, SHOW, FakeThreads

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
THREE = chain("One", "Two", "Three")


def texts_of(server: FakeThreads) -> list[str]:
    return [made["text"] for made in server.posts("alice")]


@pytest.mark.parametrize("sent", [0, 1, 2])
@pytest.mark.parametrize("taken", [True, False])
def test_a_thread_continues_after_a_lost_response(
    threads: Threads, server: FakeThreads, grant: Grant, sent: int, taken: bool
) -> None:
    progress = after(sent, threads, grant, THREE)
    server.drop_next(PUBLISH, after_accept=taken)
    with pytest.raises(OutcomeUnknown) as caught:
        step(threads, grant, THREE, progress)
    assert not caught.value.final

    found = find_post(threads, grant, THREE, progress)

    assert isinstance(found, NotPublishedProof) is not taken
    published = publish(threads, grant, THREE, found if isinstance(found, Progress) else progress)
    assert texts_of(server) == ["One", "Two", "Three"]
    assert published.external_id == server.posts("alice")[0]["id"]


def test_the_post_is_distinguished_from_other_profiles_and_older_posts(threads: Threads, server: FakeThreads) -> None:
    server.add_profile("bob")
    with time_machine.travel(NOW, tick=False) as clock:
        grant = connect(threads, server).grant
        server.post("alice", "Hello")
        clock.shift(timedelta(minutes=6))
        server.post("bob", "Hello")
        server.post("alice", "Hello!")
        progress = go_to("publish", threads, grant, post("Hello"))
        step(threads, grant, post("Hello"), progress)

        found = find_post(threads, grant, post("Hello"), progress)

    assert isinstance(found, Progress)
    made = server.posts("alice")[-1]
    assert publish(threads, grant, post("Hello"), found) == Published(
        made["id"], f"https://www.threads.com/@alice/post/{made['id']}"
    )


def test_a_post_of_the_same_text_but_another_kind_does_not_match(threads: Threads, server: FakeThreads, grant: Grant) -> None:
    server.post("alice", "Look")
    content = post("Look", hosted(server, picture()))
    progress = go_to("publish", threads, grant, content)
    step(threads, grant, content, progress)

    found = find_post(threads, grant, content, progress)

    assert isinstance(found, Progress)
    assert found.published
    assert found.published.external_id == server.posts("alice")[-1]["id"]


def test_two_posts_with_the_same_text_leave_the_outcome_unknown(threads: Threads, server: FakeThreads, grant: Grant) -> None:
    progress = go_to("publish", threads, grant, post("Hello"))
    step(threads, grant, post("Hello"), progress)
    server.post("alice", " Hello\n")

    with pytest.raises(OutcomeUnknown) as caught:
        find_post(threads, grant, post("Hello"), progress)

    assert caught.value.final


def test_a_published_post_that_is_not_in_the_list_yet_is_searched_for_again(
    threads: Threads, server: FakeThreads, grant: Grant
) -> None:
    progress = go_to("publish", threads, grant, post("Hello"))
    step(threads, grant, post("Hello"), progress)
    server.list_nothing()
    with pytest.raises(Transient):
        find_post(threads, grant, post("Hello"), progress)

    server.list_nothing(False)
    assert not isinstance(find_post(threads, grant, post("Hello"), progress), NotPublishedProof)


def test_the_last_segment_needs_no_list(threads: Threads, server: FakeThreads, grant: Grant) -> None:
    progress = after(2, threads, grant, THREE)
    step(threads, grant, THREE, progress)
    server.list_nothing()

    found = find_post(threads, grant, THREE, progress)

    assert isinstance(found, Progress)
    assert publish(threads, grant, THREE, found).external_id == server.posts("alice")[0]["id"]
    assert server.requests_to(REPLIES) == 0


def test_a_container_that_is_shown_as_a_post_was_published(threads: Threads, server: FakeThreads, grant: Grant) -> None:
    server.show_posts_only()
    progress = go_to("publish", threads, grant, post("Hello"))
    assert isinstance(find_post(threads, grant, post("Hello"), progress), NotPublishedProof)
    step(threads, grant, post("Hello"), progress)

    assert not isinstance(find_post(threads, grant, post("Hello"), progress), NotPublishedProof)


@pytest.mark.parametrize("taken", [True, False])
def test_the_profile_is_searched_if_the_container_no_longer_exists(
    threads: Threads, server: FakeThreads, grant: Grant, taken: bool
) -> None:
    progress = go_to("publish", threads, grant, post("Hello"))
    if taken:
        step(threads, grant, post("Hello"), progress)
    server.forget_containers()

    if taken:
        assert not isinstance(find_post(threads, grant, post("Hello"), progress), NotPublishedProof)
    else:
        with pytest.raises(OutcomeUnknown) as caught:
            find_post(threads, grant, post("Hello"), progress)
        assert caught.value.final


def test_an_expired_container_was_not_published_and_is_created_again(threads: Threads, server: FakeThreads) -> None:
    content = post("Look", hosted(server, picture()))
    with time_machine.travel(NOW, tick=False) as clock:
        grant = connect(threads, server).grant
        progress = go_to("publish", threads, grant, content)
        clock.shift(timedelta(hours=25))

        assert isinstance(find_post(threads, grant, content, progress), NotPublishedProof)
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
        find_post(threads, grant, post(), progress)

    assert type(caught.value) is expected
    assert server.requests_to(LIST) <= 3
