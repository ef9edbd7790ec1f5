from __future__ import annotations

import json
import socket
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
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
from accounts.platforms.linkedin.adapter import LinkedIn
from accounts.platforms.types import Grant, Progress
from tests.accounts.platforms.linkedin.scripted_server import MADE, ScriptedServer
from tests.accounts.platforms.linkedin.steps import PAGE, error, go_to, post, publish, step
from tests.accounts.platforms.media_files import MP4, media_file, picture
from tests.fakes.http_server import Answer
from tests.fakes.linkedin import FakeLinkedIn
from tests.fakes.linkedin_methods import COMMENT, CREATE

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
BEGUN = Progress("create", {"media": []})
OUT = Progress("comment", {"out": {"external_id": MADE, "permalink": f"https://www.linkedin.com/feed/update/{MADE}/"}})
PHOTO, VIDEO = media_file(picture()), media_file(MP4, "video/mp4")


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize(("phase", "call"), [("create", CREATE), ("comment", COMMENT)])
def test_a_broken_connection_leaves_the_outcome_open(
    linkedin: LinkedIn, server: FakeLinkedIn, page: Grant, phase: str, call: str, taken: bool
) -> None:
    content = post(first_comment="First!")
    progress = go_to(phase, linkedin, page, content)
    server.drop_next(call, after_accept=taken)

    with pytest.raises(OutcomeUnknown):
        step(linkedin, page, content, progress)

    posts = server.posts(PAGE)
    assert [len(made["comments"]) for made in posts] == ([0] * taken if phase == "create" else [int(taken)])


@pytest.mark.parametrize(
    "answer",
    [
        *(error(status) for status in (500, 502, 503, 504)),
        Answer(524, b"<html>"),
        Answer(999, b"Request denied"),
        Answer(201, b""),
        Answer(200, b"<html>Welcome</html>", {"x-restli-id": "7"}),
        Answer(201, b"", {"x-restli-id": "urn:li:share:../7"}),
        Answer(201, b"x" * 1_000_001, {"x-restli-id": MADE}),
    ],
)
def test_an_answer_that_names_no_post_leaves_the_outcome_open(
    linkedin: LinkedIn, scripted: ScriptedServer, scripted_grant: Grant, answer: Answer
) -> None:
    scripted.answers[CREATE] = answer

    with pytest.raises(OutcomeUnknown):
        step(linkedin, scripted_grant, post(), BEGUN)

    assert scripted.asked == [CREATE]


@pytest.mark.parametrize(
    ("answer", "fault", "known"),
    [
        (error(401, "expired", "EXPIRED_ACCESS_TOKEN", serviceErrorCode=65602), TokenExpired, True),
        (Answer(401, b""), TokenExpired, True),
        (error(403, "Not enough permissions to access: posts.CREATE", "ACCESS_DENIED"), AccountDisconnected, True),
        (error(403, "Accessing this resource is forbidden."), AccountDisconnected, True),
        (error(403, "Come back on Monday", "NEW_RULE"), Transient, False),
        (Answer(403, b"<html>Blocked by permission</html>"), Transient, False),
        (error(426, "Requested version 202501 is not active", "NONEXISTENT_VERSION"), ConnectionUnavailable, True),
        (error(400, "Requested version 20250101 is not active", "NONEXISTENT_VERSION"), ConnectionUnavailable, True),
        (error(429, "Resource level throttle APPLICATION DAY limit is reached"), RateLimited, True),
        (error(400, "ERROR :: /commentary :: is odd", serviceErrorCode=100), ContentRejected, True),
        (error(422, "is odd", "NEW_RULE"), ContentRejected, False),
        (Answer(413, b"<html>"), ContentRejected, True),
        (Answer(400, b"<html>"), Transient, False),
        (error(404, "No virtual resource found", "RESOURCE_NOT_FOUND"), Transient, False),
        (Answer(307, b"", {"Location": "/elsewhere"}), Transient, False),
    ],
)
def test_a_refusal_is_told_by_what_helps(
    linkedin: LinkedIn,
    scripted: ScriptedServer,
    scripted_grant: Grant,
    caplog: pytest.LogCaptureFixture,
    answer: Answer,
    fault: type[PlatformError],
    known: bool,
) -> None:
    """What the service does not know is logged, by its code and not by its words."""
    scripted.answers[CREATE] = answer

    with pytest.raises(PlatformError) as caught:
        step(linkedin, scripted_grant, post(), BEGUN)

    assert type(caught.value) is fault
    assert scripted.asked == [CREATE]
    assert [record.levelname for record in caplog.records] == ([] if known else ["WARNING"])
    assert "odd" not in caplog.text
    assert "Monday" not in caplog.text


def test_a_repetition_is_refused_in_linkedins_words(linkedin: LinkedIn, server: FakeLinkedIn, page: Grant) -> None:
    first = publish(linkedin, page, post("Hello"))

    with pytest.raises(ContentRejected) as caught:
        publish(linkedin, page, post("Hello"))

    assert caught.value.message == f"LinkedIn does not accept the post: Content is a duplicate of {first.external_id}"
    assert len(server.posts(PAGE)) == 1


@pytest.mark.parametrize("message", ["x" * 100_000, "a\x00b\nc\ud800", {"deep": []}, None, "t" * 400])
def test_a_reason_is_one_bounded_line_without_a_token(
    linkedin: LinkedIn, scripted: ScriptedServer, scripted_grant: Grant, message: Any
) -> None:
    told = {"message": message, "errorDetails": {"inputErrors": ["none"]}, "code": 7}
    scripted.answers[CREATE] = Answer(422, json.dumps(told).encode())

    with pytest.raises(ContentRejected) as caught:
        step(linkedin, scripted_grant, post(), BEGUN)

    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 400
    assert "tttt" not in caught.value.message


@pytest.mark.parametrize(
    ("message", "headers", "seconds"),
    [
        ("Resource level throttle MEMBER DAY limit for calls to this resource is reached.", {}, 6 * 3600.0),
        ("Resource level throttle MEMBER DAY limit is reached.", {"Retry-After": "60"}, 60.0),
        ("Throttled", {"Retry-After": "9" * 8}, 86_400.0),
        ("Throttled", {"Retry-After": "soon"}, None),
        ("Throttled today", {}, None),
    ],
)
def test_a_quota_of_the_day_begins_anew_at_midnight_utc(
    linkedin: LinkedIn,
    scripted: ScriptedServer,
    scripted_grant: Grant,
    message: str,
    headers: dict[str, str],
    seconds: float | None,
) -> None:
    scripted.answers[CREATE] = Answer.of_json({"message": message, "status": 429}, 429, headers)

    with time_machine.travel(NOW + timedelta(hours=6), tick=False), pytest.raises(RateLimited) as caught:
        step(linkedin, scripted_grant, post(), BEGUN)

    assert caught.value.retry_after == seconds


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (error(503), OutcomeUnknown),
        (error(404, "Could not find entity"), Transient),
        (error(403, "Not enough permissions to access: socialActions.CREATE", "ACCESS_DENIED"), ContentRejected),
        (error(400, "is odd"), ContentRejected),
        (error(429), RateLimited),
        (error(401), TokenExpired),
    ],
)
def test_a_comment_that_is_refused_says_nothing_against_the_account(
    linkedin: LinkedIn, scripted: ScriptedServer, scripted_grant: Grant, answer: Answer, fault: type[PlatformError]
) -> None:
    scripted.answers[COMMENT] = answer

    with pytest.raises(PlatformError) as caught:
        step(linkedin, scripted_grant, post(first_comment="First!"), OUT)

    assert type(caught.value) is fault
    assert scripted.asked == [COMMENT]


@pytest.mark.parametrize("progress", [BEGUN, OUT])
def test_a_server_that_cannot_be_reached_took_nothing(
    linkedin: LinkedIn, scripted_grant: Grant, settings: Settings, progress: Progress
) -> None:
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        settings.PLATFORM_SETTINGS = {"LINKEDIN_API_BASE": f"http://127.0.0.1:{unused.getsockname()[1]}"}

        with pytest.raises(Transient):
            step(linkedin, scripted_grant, post(first_comment="First!"), progress)


def test_no_fault_names_a_token_or_the_text(
    linkedin: LinkedIn, scripted: ScriptedServer, scripted_grant: Grant
) -> None:
    faults: list[str] = []
    for status in (400, 401, 403, 404, 422, 426, 429, 500):
        scripted.answers[CREATE] = error(status, "no", description="the text")
        with pytest.raises(PlatformError) as caught:
            step(linkedin, scripted_grant, post("the text"), BEGUN)
        faults.append(f"{caught.value!r} {caught.value.__cause__!r}")

    assert not any("secret-" in fault or "the text" in fault for fault in faults)
