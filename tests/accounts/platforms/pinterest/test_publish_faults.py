from __future__ import annotations

import socket
from datetime import UTC, datetime

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
from accounts.platforms.pinterest.adapter import Pinterest
from accounts.platforms.types import Grant
from tests.accounts.platforms.media_files import MP4, media_file
from tests.accounts.platforms.pinterest.steps import go_to, pin, publish, step
from tests.fakes.http_server import Answer
from tests.fakes.pinterest import ANNOUNCE, CREATE, STORE, FakePinterest

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def error(status: int, code: int = 1, message: str = "no") -> Answer:
    return Answer.of_json({"code": code, "message": message}, status)


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("fault", ["drop", 500, 504])
def test_an_answer_that_never_comes_leaves_the_outcome_open_for_good(
    pinterest: Pinterest, server: FakePinterest, grant: Grant, fault: str | int, taken: bool
) -> None:
    if isinstance(fault, int):
        server.fail_next(CREATE, fault, after_accept=taken)
    else:
        server.drop_next(CREATE, after_accept=taken)

    with pytest.raises(OutcomeUnknown) as caught:
        publish(pinterest, grant, pin())

    assert caught.value.final
    assert (len(server.pins("alice")), server.requests_to(CREATE)) == (int(taken), 1)


@pytest.mark.parametrize(
    "answer", [Answer(201), Answer(200, b"<html>"), Answer.of_json({"id": "../1"}, 201), Answer.of_json({"id": 1}, 201)]
)
def test_an_answer_that_names_no_pin_leaves_the_outcome_open(
    pinterest: Pinterest, server: FakePinterest, grant: Grant, answer: Answer
) -> None:
    server.refuse_next(CREATE, answer)

    with pytest.raises(OutcomeUnknown):
        publish(pinterest, grant, pin())


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (error(400, 1, "Invalid request"), ContentRejected),
        (error(403, 29, "You are not permitted to access that resource."), ContentRejected),
        (error(404, 40, "Board not found."), ContentRejected),
        (Answer(413, b"<html>"), ContentRejected),
        (error(401, 2, "Authentication failed."), TokenExpired),
        (error(403, 29, "Apps with Trial access may not create Pins in production"), ConnectionUnavailable),
        (error(403, 5, "This user account is suspended."), AccountDisconnected),
        (error(429, 8), RateLimited),
        (Answer(403, b"<html>Blocked</html>"), Transient),
        (Answer(307, b"", {"Location": "/elsewhere"}), Transient),
        (error(418, 99), Transient),
    ],
)
def test_a_refusal_is_told_by_what_helps(
    pinterest: Pinterest,
    server: FakePinterest,
    grant: Grant,
    caplog: pytest.LogCaptureFixture,
    answer: Answer,
    fault: type[PlatformError],
) -> None:
    server.refuse_next(CREATE, answer)

    with pytest.raises(PlatformError) as caught:
        publish(pinterest, grant, pin())

    assert type(caught.value) is fault
    assert (server.pins("alice"), server.requests_to(CREATE)) == ([], 1)
    assert bool(caplog.records) is (fault is Transient)  # what the service does not know
    if fault is ConnectionUnavailable:
        assert "operator" in caught.value.suggested_action


@pytest.mark.parametrize(
    ("call", "answer", "fault"),
    [
        (ANNOUNCE, error(400), ContentRejected),
        (ANNOUNCE, error(401, 2), TokenExpired),
        (ANNOUNCE, Answer(503), Transient),
        (ANNOUNCE, Answer.of_json({"media_id": "1"}, 201), Transient),
        (
            ANNOUNCE,
            Answer.of_json({"media_id": "1", "upload_url": "ftp://example.com/", "upload_parameters": {}}, 201),
            Transient,
        ),
        (STORE, Answer(403, b"<Error/>"), Transient),
        (STORE, Answer(503), Transient),
    ],
)
def test_an_upload_that_is_refused_is_told_by_what_helps(
    pinterest: Pinterest, server: FakePinterest, grant: Grant, call: str, answer: Answer, fault: type[PlatformError]
) -> None:
    content = pin(media_file(MP4, "video/mp4"))
    progress = go_to("upload", pinterest, grant, content)
    server.refuse_next(call, answer)

    with pytest.raises(PlatformError) as caught:
        step(pinterest, grant, content, progress)

    assert type(caught.value) is fault


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"x-ratelimit-reset": "42"}, 42.0),
        ({"x-ratelimit-reset": str(int(NOW.timestamp()) + 90)}, 90.0),
        ({"Retry-After": "7", "x-ratelimit-reset": "42"}, 7.0),
        ({"Retry-After": "999999"}, 86_400.0),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_the_limit_says_when_to_come_again(
    pinterest: Pinterest, server: FakePinterest, grant: Grant, headers: dict[str, str], seconds: float | None
) -> None:
    server.refuse_next(CREATE, Answer(429, b'{"code": 8, "message": "no"}', headers))

    with time_machine.travel(NOW, tick=False), pytest.raises(RateLimited) as caught:
        publish(pinterest, pinterest.refresh(grant), pin())

    assert caught.value.retry_after == seconds


def test_a_reason_is_one_bounded_line(pinterest: Pinterest, server: FakePinterest, grant: Grant) -> None:
    server.refuse_next(CREATE, error(400, 1, "a\x00b\n" + "x" * 100_000))

    with pytest.raises(ContentRejected) as caught:
        publish(pinterest, grant, pin())

    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 400


def test_a_server_that_cannot_be_reached_took_nothing(
    pinterest: Pinterest, server: FakePinterest, grant: Grant, settings: Settings
) -> None:
    progress = go_to("create", pinterest, grant, pin())
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        settings.PLATFORM_SETTINGS = {"PINTEREST_API_BASE": f"http://127.0.0.1:{unused.getsockname()[1]}/v5"}

        with pytest.raises(Transient):
            step(pinterest, grant, pin(), progress)


def test_no_fault_shows_a_token(pinterest: Pinterest, server: FakePinterest, grant: Grant) -> None:
    for status in (400, 401, 403, 404, 429, 500):
        server.refuse_next(CREATE, error(status))
        with pytest.raises(PlatformError) as caught:
            publish(pinterest, grant, pin())
        assert grant.tokens["access_token"] not in f"{caught.value!r} {caught.value.__cause__!r} {grant!r}"
