from __future__ import annotations

import pytest

from accounts.platforms.errors import ContentRejected, Transient
from accounts.platforms.threads.adapter import Threads
from accounts.platforms.threads.containers import MAX_CHECKS
from accounts.platforms.types import Grant, Progress, Published
from tests.accounts.platforms.media_files import MP4, media_file, picture
from tests.accounts.platforms.meta.steps import error, go_to, post, publish, step
from tests.accounts.platforms.threads.steps import chain, hosted
from tests.fakes.http_server import Answer
from tests.fakes.threads import MAKE, PUBLISH, SHOW, FakeThreads


@pytest.mark.parametrize("times", [1, 4])
def test_a_container_that_threads_does_not_find_is_checked_again(
    threads: Threads, server: FakeThreads, grant: Grant, times: int
) -> None:
    server.hide_next_containers(times)

    publish(threads, grant, post())

    assert (server.requests_to(MAKE), server.requests_to(PUBLISH)) == (1, times + 1)
    assert len(server.posts("alice")) == 1


def test_a_status_that_threads_does_not_find_is_requested_again(threads: Threads, server: FakeThreads, grant: Grant) -> None:
    server.refuse_next(SHOW, error(24, subcode=4279009), times=3)
    publish(threads, grant, post())
    assert (server.requests_to(MAKE), len(server.posts("alice"))) == (1, 1)

    server.refuse_next(SHOW, error(100, subcode=33), times=4)
    publish(threads, grant, post("Two"))
    assert (server.requests_to(MAKE), len(server.posts("alice"))) == (3, 2)


def test_a_segment_that_threads_does_not_find_is_replied_to_later(
    threads: Threads, server: FakeThreads, grant: Grant
) -> None:
    content = chain("One", "Two")
    following = step(threads, grant, content, go_to("publish", threads, grant, content))
    assert isinstance(following, Progress)
    server.refuse_next(MAKE, error(100, subcode=33))

    with pytest.raises(Transient):
        step(threads, grant, content, following)

    publish(threads, grant, content, following)
    assert [made["text"] for made in server.posts("alice")] == ["One", "Two"]


def test_a_container_that_threads_never_finds_is_created_again_a_few_times(
    threads: Threads, server: FakeThreads, grant: Grant
) -> None:
    server.hide_next_containers(5)
    publish(threads, grant, post())
    assert (server.requests_to(MAKE), len(server.posts("alice"))) == (2, 1)

    server.hide_next_containers(100)
    with pytest.raises(ContentRejected, match="does not know"):
        publish(threads, grant, post("Two"))
    assert (server.requests_to(MAKE), len(server.posts("alice"))) == (5, 1)


def test_a_container_that_was_published_although_not_found_is_not_published_again(
    threads: Threads, server: FakeThreads, grant: Grant
) -> None:
    content = post("Hello")
    progress = go_to("publish", threads, grant, content)
    server.refuse_next(PUBLISH, error(24, subcode=4279009), after_accept=True)
    following = step(threads, grant, content, progress)
    assert isinstance(following, Progress)

    published = publish(threads, grant, content, following)

    assert [made["id"] for made in server.posts("alice")] == [published.external_id]


def test_media_that_cannot_be_processed_are_rejected(threads: Threads, server: FakeThreads, grant: Grant) -> None:
    server.process(checks=1, failure="INVALID_ASPEC_RATIO")

    with pytest.raises(ContentRejected) as caught:
        publish(threads, grant, post("Look", hosted(server, MP4, "video/mp4")))

    assert caught.value.message == "Threads could not process the post: INVALID_ASPEC_RATIO"
    assert server.requests_to(PUBLISH) == 0


def test_media_that_cannot_be_fetched_are_tried_three_times(threads: Threads, server: FakeThreads, grant: Grant) -> None:
    with pytest.raises(ContentRejected) as caught:
        publish(threads, grant, post("", media_file(picture(), url=f"{server.url}/files/7")))

    assert "FAILED_DOWNLOADING_IMAGE" in caught.value.message
    assert "can be fetched" in caught.value.suggested_action
    assert (server.requests_to(MAKE), server.requests_to(PUBLISH)) == (3, 0)


def test_waiting_for_media_ends(threads: Threads, server: FakeThreads, grant: Grant) -> None:
    server.process(checks=10_000)

    with pytest.raises(Transient, match="not finished"):
        publish(threads, grant, post("Look", hosted(server, MP4, "video/mp4")))

    assert server.requests_to(SHOW) == MAX_CHECKS


@pytest.mark.parametrize("answer", [{"id": "7"}, {"id": "7", "permalink": "javascript:x"}])
def test_a_post_without_a_permalink_is_published(
    threads: Threads, server: FakeThreads, grant: Grant, answer: dict[str, str]
) -> None:
    progress = go_to("permalink", threads, grant, post())
    server.refuse_next(SHOW, Answer.of_json(answer))

    published = step(threads, grant, post(), progress)

    assert isinstance(published, Published)
    assert (published.external_id, published.permalink) == (server.posts("alice")[0]["id"], "")
    assert published.note
