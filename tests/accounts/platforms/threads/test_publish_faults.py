from __future__ import annotations

import json
import socket
from datetime import UTC, datetime
from typing import Any

import pytest
from pytest_django import Settings

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
from accounts.platforms.threads.adapter import Threads
from accounts.platforms.threads.containers import MAX_CHECKS
from accounts.platforms.types import Grant, Progress, Published
from tests.accounts.platforms.media_files import MP4, media_file, picture
from tests.accounts.platforms.threads.scripted_server import ScriptedServer
from tests.accounts.platforms.threads.steps import chain, go_to, hosted, post, publish, step
from tests.fakes.http_server import Answer
from tests.fakes.threads import MAKE, PUBLISH, SHOW, FakeThreads

SINCE = datetime(2026, 11, 20, 12, 0, tzinfo=UTC).isoformat()
MADE = Progress("publish", {"since": SINCE, "sent": [], "container": "5"})
TO_MAKE = Progress("container", {"since": SINCE, "sent": []})
STANDS = Progress("permalink", {"out": {"external_id": "7", "permalink": ""}})


def error(code: int, subcode: int = 0, status: int = 400, message: str = "no", **more: Any) -> Answer:
    told = {"message": message, "type": "OAuthException", "code": code, "error_subcode": subcode, **more}
    return Answer.of_json({"error": told}, status)


@pytest.mark.parametrize(
    "answer",
    [
        *(Answer(status) for status in (500, 502, 504)),
        error(1),
        error(2, status=500),
        error(100, is_transient=True),
        Answer(200, b""),
        Answer(200, b"<html>"),
        Answer(200, b"[]"),
        Answer.of_json({"id": "../7"}),
    ],
)
def test_an_answer_that_names_no_post_leaves_the_outcome_open(
    threads: Threads, scripted: ScriptedServer, scripted_grant: Grant, answer: Answer
) -> None:
    scripted.answers[PUBLISH] = answer

    with pytest.raises(OutcomeUnknown) as caught:
        step(threads, scripted_grant, post(), MADE)

    assert not caught.value.final
    assert scripted.asked == [PUBLISH]


@pytest.mark.parametrize("progress", [TO_MAKE, MADE])
@pytest.mark.parametrize(
    ("answer", "fault", "known"),
    [
        (error(190, 463, 401), TokenExpired, True),
        (error(10, status=403), AccountDisconnected, True),
        (error(200, status=403), AccountDisconnected, True),
        (error(4), RateLimited, True),
        (error(9, 2207042), RateLimited, True),
        (Answer(429, b"", {"Retry-After": "30"}), RateLimited, True),
        (error(100, message="Param text must be at most 500 characters long."), ContentRejected, True),
        (error(1, 2207051), ContentRejected, True),
        (error(1, 2207052), ContentRejected, True),
        (error(1, 4279013), ContentRejected, True),
        (error(101, message="Error validating application"), ConnectionUnavailable, True),
        (error(4711, 12), ContentRejected, False),
        (Answer(404, b"<html>"), Transient, False),
    ],
)
def test_a_refusal_is_told_by_what_helps(
    threads: Threads,
    scripted: ScriptedServer,
    scripted_grant: Grant,
    caplog: pytest.LogCaptureFixture,
    progress: Progress,
    answer: Answer,
    fault: type[PlatformError],
    known: bool,
) -> None:
    scripted.answers |= {MAKE: answer, PUBLISH: answer}

    with pytest.raises(PlatformError) as caught:
        step(threads, scripted_grant, post("the text"), progress)

    assert type(caught.value) is fault
    assert len(scripted.asked) == 1
    assert [record.levelname for record in caplog.records] == ([] if known else ["WARNING"])
    shown = f"{caught.value!r} {caught.value.__cause__!r} {caplog.text}"
    assert "secret-" not in shown
    assert "the text" not in shown


def test_a_container_that_could_not_be_made_is_made_again(threads: Threads, server: FakeThreads, grant: Grant) -> None:
    content = post("Look", hosted(server, picture()), hosted(server, MP4, "video/mp4"))
    for after_accept in (True, False):
        result: Progress | Published = Progress("start")
        while isinstance(result, Progress):
            if result.phase == "container":
                server.drop_next(MAKE, after_accept=after_accept)
                with pytest.raises(Transient):
                    step(threads, grant, content, result)
            result = step(threads, grant, content, result)

    assert [len(made["media"]) for made in server.posts("alice")] == [2, 2]


@pytest.mark.parametrize("times", [1, 4])
def test_a_container_that_threads_does_not_know_yet_is_looked_at_again(
    threads: Threads, server: FakeThreads, grant: Grant, times: int
) -> None:
    server.not_know_containers(times)

    publish(threads, grant, post())

    assert (server.requests_to(MAKE), server.requests_to(PUBLISH)) == (1, times + 1)
    assert len(server.posts("alice")) == 1


def test_a_container_whose_status_is_not_known_yet_is_looked_at_again(
    threads: Threads, server: FakeThreads, grant: Grant
) -> None:
    server.refuse_next(SHOW, error(24, 4279009), times=3)
    publish(threads, grant, post())
    assert (server.requests_to(MAKE), len(server.posts("alice"))) == (1, 1)

    server.refuse_next(SHOW, error(100, 33), times=4)
    publish(threads, grant, post("Two"))
    assert (server.requests_to(MAKE), len(server.posts("alice"))) == (3, 2)


def test_a_segment_that_is_not_known_yet_is_replied_to_later(
    threads: Threads, server: FakeThreads, grant: Grant
) -> None:
    content = chain("One", "Two")
    following = step(threads, grant, content, go_to("publish", threads, grant, content))
    assert isinstance(following, Progress)
    server.refuse_next(MAKE, error(100, 33))

    with pytest.raises(Transient):
        step(threads, grant, content, following)

    publish(threads, grant, content, following)
    assert [made["text"] for made in server.posts("alice")] == ["One", "Two"]


def test_one_that_it_goes_on_not_to_know_is_made_again_so_often(
    threads: Threads, server: FakeThreads, grant: Grant
) -> None:
    server.not_know_containers(5)
    publish(threads, grant, post())
    assert (server.requests_to(MAKE), len(server.posts("alice"))) == (2, 1)

    server.not_know_containers(100)
    with pytest.raises(ContentRejected, match="does not know"):
        publish(threads, grant, post("Two"))
    assert (server.requests_to(MAKE), len(server.posts("alice"))) == (5, 1)


def test_one_that_was_published_while_it_was_not_known_is_not_published_again(
    threads: Threads, server: FakeThreads, grant: Grant
) -> None:
    content = post("Hello")
    progress = go_to("publish", threads, grant, content)
    server.refuse_next(PUBLISH, error(24, 4279009), after_accept=True)
    following = step(threads, grant, content, progress)
    assert isinstance(following, Progress)

    published = publish(threads, grant, content, following)

    assert [made["id"] for made in server.posts("alice")] == [published.external_id]


def test_media_that_cannot_be_processed_are_rejected(threads: Threads, server: FakeThreads, grant: Grant) -> None:
    server.process(looks=1, failure="INVALID_ASPEC_RATIO")

    with pytest.raises(ContentRejected) as caught:
        publish(threads, grant, post("Look", hosted(server, MP4, "video/mp4")))

    assert caught.value.message == "Threads could not process the post: INVALID_ASPEC_RATIO"
    assert server.requests_to(PUBLISH) == 0


def test_media_that_cannot_be_fetched_are_tried_thrice(threads: Threads, server: FakeThreads, grant: Grant) -> None:
    with pytest.raises(ContentRejected) as caught:
        publish(threads, grant, post("", media_file(picture(), url=f"{server.url}/files/7")))

    assert "FAILED_DOWNLOADING_IMAGE" in caught.value.message
    assert "can be fetched" in caught.value.suggested_action
    assert (server.requests_to(MAKE), server.requests_to(PUBLISH)) == (3, 0)


def test_processing_is_not_waited_for_without_end(
    threads: Threads, scripted: ScriptedServer, scripted_grant: Grant
) -> None:
    scripted.answers[SHOW] = Answer.of_json({"id": "5", "status": "IN_PROGRESS"})
    state = {"since": SINCE, "sent": [], "container": "5", "waiting": ["5"], "looks": MAX_CHECKS}

    with pytest.raises(Transient, match="not finished"):
        step(threads, scripted_grant, post(), Progress("wait", state))


@pytest.mark.parametrize(
    ("answer", "note"),
    [(Answer.of_json({"id": "7"}), True), (Answer.of_json({"id": "7", "permalink": "javascript:x"}), True)],
)
def test_a_post_without_an_address_is_published_all_the_same(
    threads: Threads, scripted: ScriptedServer, scripted_grant: Grant, answer: Answer, note: bool
) -> None:
    scripted.answers[SHOW] = answer

    published = step(threads, scripted_grant, post(), STANDS)

    assert isinstance(published, Published)
    assert (published.external_id, published.permalink, bool(published.note)) == ("7", "", note)


def test_nothing_is_published_while_the_address_is_asked_for(
    threads: Threads, scripted: ScriptedServer, scripted_grant: Grant
) -> None:
    for answer in (Answer(503), error(100, 33), error(190, status=401)):
        scripted.answers[SHOW] = answer
        with pytest.raises(PlatformError):
            step(threads, scripted_grant, post(), STANDS)

    assert set(scripted.asked) == {SHOW}


def test_a_segment_that_is_refused_keeps_those_before_it(threads: Threads, server: FakeThreads, grant: Grant) -> None:
    content = chain("One", "Two")
    progress = go_to("publish", threads, grant, content)
    following = step(threads, grant, content, progress)
    assert isinstance(following, Progress)
    server.refuse_next(MAKE, error(100, message="no"))

    with pytest.raises(ContentRejected):
        step(threads, grant, content, following)

    assert following.state["sent"] == [server.posts("alice")[0]["id"]]
    publish(threads, grant, content, following)
    assert [made["text"] for made in server.posts("alice")] == ["One", "Two"]


@pytest.mark.parametrize("message", ["x " * 50_000, "a\x00b\nc", {"deep": []}, None, "THAA" + "t" * 400])
def test_a_reason_is_one_bounded_line_without_a_token(
    threads: Threads, scripted: ScriptedServer, scripted_grant: Grant, message: Any
) -> None:
    told = {"error": {"message": message, "code": 100, "error_subcode": "none"}}
    scripted.answers[PUBLISH] = Answer(400, json.dumps(told).encode())

    with pytest.raises(ContentRejected) as caught:
        step(threads, scripted_grant, post(), MADE)

    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 400
    assert "tttt" not in caught.value.message


@pytest.mark.parametrize("progress", [TO_MAKE, MADE, STANDS])
def test_a_server_that_cannot_be_reached_took_nothing(
    threads: Threads, scripted_grant: Grant, settings: Settings, progress: Progress
) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        settings.PLATFORM_SETTINGS = {"THREADS_API_BASE": f"http://127.0.0.1:{unused.getsockname()[1]}"}

        with pytest.raises(Transient):
            step(threads, scripted_grant, post(), progress)
