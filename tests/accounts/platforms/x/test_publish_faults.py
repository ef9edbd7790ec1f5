from __future__ import annotations

import json
import socket
from datetime import UTC, datetime
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
from accounts.platforms.types import Grant, Progress
from accounts.platforms.x.adapter import X
from tests.accounts.platforms.x.scripted_server import MADE, ScriptedServer
from tests.accounts.platforms.x.steps import go_to, post, publish, step
from tests.fakes.http_server import Answer
from tests.fakes.x import FakeX
from tests.fakes.x_methods import CREATE

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
BEGUN = Progress("create", {"since": NOW.isoformat(), "media": [], "described": 0, "sent": []})
PROBLEMS = "https://api.twitter.com/2/problems/"


def problem(status: int, detail: str = "no", kind: str = "", **more: Any) -> Answer:
    told = {"title": "Title", "detail": detail, "type": PROBLEMS + kind if kind else "about:blank", **more}
    return Answer.of_json(told, status)


@pytest.mark.parametrize("taken", [True, False])
def test_a_broken_connection_leaves_the_outcome_open(x: X, server: FakeX, grant: Grant, taken: bool) -> None:
    progress = go_to("create", x, grant, post())
    server.drop_next(CREATE, after_accept=taken)

    with pytest.raises(OutcomeUnknown) as caught:
        step(x, grant, post(), progress)

    assert not caught.value.final
    assert len(server.posts("alice")) == int(taken)


@pytest.mark.parametrize(
    "answer",
    [
        *(problem(status) for status in (500, 502, 503, 504)),
        Answer(524, b"<html>"),
        Answer(201, b""),
        Answer(200, b"<html>Welcome</html>"),
        Answer(201, b"[]"),
        Answer.of_json({"errors": [{"message": "no"}]}, 200),
        Answer.of_json({"data": {"text": "Hello"}}, 201),
        Answer.of_json({"data": {**MADE, "id": 7}}, 201),
        Answer.of_json({"data": {**MADE, "id": "../7"}}, 201),
        Answer.of_json({"data": MADE, "padding": "x" * 2_000_000}, 201),
    ],
)
def test_an_answer_that_names_no_post_leaves_the_outcome_open(
    x: X, scripted: ScriptedServer, scripted_grant: Grant, answer: Answer
) -> None:
    scripted.answers[CREATE] = answer

    with pytest.raises(OutcomeUnknown):
        step(x, scripted_grant, post(), BEGUN)

    assert scripted.asked == [CREATE]


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (problem(401), TokenExpired),
        (Answer(401, b""), TokenExpired),
        (problem(403, "You are not permitted to perform this action."), ContentRejected),
        (problem(403, "This user is not allowed to post a video longer than 2 minutes."), ContentRejected),
        (problem(403, "You may not reply to an account that is suspended."), ContentRejected),
        (problem(403, "Your account is suspended and is not permitted to access this."), AccountDisconnected),
        (problem(403, "To protect you, this account is temporarily locked. Please log in."), AccountDisconnected),
        (problem(403, "App-only is forbidden.", "unsupported-authentication"), AccountDisconnected),
        (problem(403, "Enroll in a project.", "client-forbidden", reason="client-not-enrolled"), ConnectionUnavailable),
        (problem(402, "Your account has no credits.", "credits"), ConnectionUnavailable),
        (problem(429, "Usage cap exceeded: Monthly product cap", "usage-capped"), ConnectionUnavailable),
        (problem(429, "Too Many Requests"), RateLimited),
        (Answer.of_json({"errors": [{"code": 88, "message": "Rate limit exceeded"}]}, 429), RateLimited),
        (problem(400, "One or more parameters was invalid.", "invalid-request"), ContentRejected),
        (problem(404, "Could not find tweet", "resource-not-found"), ContentRejected),
        (Answer(413, b"<html>"), ContentRejected),
        (Answer(403, b"<html>Blocked</html>"), Transient),
        (Answer(404, b"<html>"), Transient),
        (Answer(307, b"", {"Location": "/elsewhere"}), Transient),
    ],
)
def test_a_refusal_is_told_by_what_helps(
    x: X,
    scripted: ScriptedServer,
    scripted_grant: Grant,
    caplog: pytest.LogCaptureFixture,
    answer: Answer,
    fault: type[PlatformError],
) -> None:
    scripted.answers[CREATE] = answer

    with pytest.raises(PlatformError) as caught:
        step(x, scripted_grant, post(), BEGUN)

    assert type(caught.value) is fault
    assert scripted.asked == [CREATE]
    assert bool(caplog.records) is (fault is Transient)  # what the service does not know
    if fault is ConnectionUnavailable:
        assert "operator" in caught.value.suggested_action


def test_the_reason_is_that_of_the_parameter(x: X, scripted: ScriptedServer, scripted_grant: Grant) -> None:
    errors = [{"parameters": {"text": ["Hello"]}, "message": "The text is odd."}]
    scripted.answers[CREATE] = problem(400, "One or more parameters was invalid.", "invalid-request", errors=errors)

    with pytest.raises(ContentRejected) as caught:
        step(x, scripted_grant, post(), BEGUN)

    assert caught.value.message == "X does not accept this post: The text is odd."


@pytest.mark.parametrize("message", ["x" * 100_000, "a\x00b\nc\ud800", {"deep": []}, None])
def test_a_reason_is_one_bounded_line(x: X, scripted: ScriptedServer, scripted_grant: Grant, message: Any) -> None:
    scripted.answers[CREATE] = Answer(403, json.dumps({"detail": message, "errors": "none"}).encode())

    with pytest.raises(ContentRejected) as caught:
        step(x, scripted_grant, post(), BEGUN)

    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 400


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (problem(403, "Hello is no text for us", "new-kind-of-problem"), "403 new-kind-of-problem"),
        (Answer(418, b""), "418"),
    ],
)
def test_what_is_not_known_is_logged_by_its_code_only(
    x: X,
    scripted: ScriptedServer,
    scripted_grant: Grant,
    caplog: pytest.LogCaptureFixture,
    answer: Answer,
    words: str,
) -> None:
    scripted.answers[CREATE] = answer

    with pytest.raises(PlatformError):
        step(x, scripted_grant, post(), BEGUN)

    [record] = caplog.records
    assert (record.levelname, words in record.getMessage()) == ("WARNING", True)
    assert "Hello" not in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize("of_the_day", [False, True])
def test_the_limit_that_is_used_up_says_when_to_come_again(x: X, server: FakeX, grant: Grant, of_the_day: bool) -> None:
    with time_machine.travel(NOW, tick=False):
        grant = x.refresh(grant)
        server.rate_limit_next(CREATE, 900, of_the_day=of_the_day)

        with pytest.raises(RateLimited) as caught:
            publish(x, grant, post())

    assert caught.value.retry_after == 900
    assert server.posts("alice") == []


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"x-rate-limit-reset": str(int(NOW.timestamp()) + 90)}, 90.0),
        ({"x-rate-limit-reset": "0"}, 0.0),
        ({"x-rate-limit-reset": "9" * 12}, 86_400.0),
        ({"x-rate-limit-reset": "9" * 30}, None),
        ({"x-rate-limit-reset": "soon"}, None),
        ({}, None),
    ],
)
def test_the_reset_of_a_limit_is_read_within_bounds(
    x: X, scripted: ScriptedServer, scripted_grant: Grant, headers: dict[str, str], seconds: float | None
) -> None:
    scripted.answers[CREATE] = Answer.of_json({"title": "Too Many Requests"}, 429, headers)

    with time_machine.travel(NOW, tick=False), pytest.raises(RateLimited) as caught:
        step(x, scripted_grant, post(), BEGUN)

    assert caught.value.retry_after == seconds


def test_a_server_that_cannot_be_reached_took_nothing(
    x: X, scripted: ScriptedServer, scripted_grant: Grant, settings: Settings
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        settings.PLATFORM_SETTINGS = {"X_API_BASE": f"http://127.0.0.1:{unused.getsockname()[1]}"}

        with pytest.raises(Transient):
            step(x, scripted_grant, post(), BEGUN)


def test_no_fault_names_a_token_or_the_text(x: X, scripted: ScriptedServer, scripted_grant: Grant) -> None:
    faults: list[str] = []
    for status in (400, 401, 402, 403, 404, 429, 500):
        scripted.answers[CREATE] = problem(status, errors=[{"parameters": {"text": ["the text"]}}])
        with pytest.raises(PlatformError) as caught:
            step(x, scripted_grant, post("the text"), BEGUN)
        faults.append(f"{caught.value!r} {caught.value.__cause__!r}")

    assert not any("secret-" in fault or "the text" in fault for fault in faults)
