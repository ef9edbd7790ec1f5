"""Pinterest's own errors when a pin is created or a video is uploaded."""

from __future__ import annotations

import pytest

from accounts.platforms.errors import (
    ConnectionUnavailable,
    ContentRejected,
    PlatformError,
    RateLimited,
    ReauthRequired,
    TokenExpired,
    Transient,
)
from accounts.platforms.types import Grant
from tests.accounts.platforms.media_files import MP4, media_file
from tests.accounts.platforms.pinterest.steps import pin, publish
from tests.fakes.http_server import Answer
from tests.fakes.pinterest import ANNOUNCE, CREATE, STORE, FakePinterest
from tests.posts.rows import NOON


def error(status: int, code: int = 1, message: str = "no") -> Answer:
    return Answer.of_json({"code": code, "message": message}, status)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (error(400, 1, "Invalid request"), ContentRejected),
        (error(403, 29, "You are not permitted to access that resource."), ContentRejected),
        (error(404, 40, "Board not found."), ContentRejected),
        (error(403, 29, "Apps with Trial access may not create Pins in production"), ConnectionUnavailable),
        (error(403, 5, "This user account is suspended."), ReauthRequired),
        (error(429, 8), RateLimited),
    ],
)
def test_documented_errors_are_translated_and_not_reported_as_unknown(
    server: FakePinterest, grant: Grant, caplog: pytest.LogCaptureFixture, answer: Answer, expected: type[PlatformError]
) -> None:
    server.refuse_next(CREATE, answer)

    with pytest.raises(PlatformError) as caught:
        publish(grant, pin())

    assert type(caught.value) is expected
    assert (server.pins("alice"), server.requests_to(CREATE)) == ([], 1)
    assert not [record for record in caplog.records if record.name == "accounts.platforms"]
    if expected is ConnectionUnavailable:
        assert "operator" in caught.value.suggested_action


@pytest.mark.parametrize(
    ("call", "answer", "expected"),
    [
        (ANNOUNCE, error(400), ContentRejected),
        (ANNOUNCE, error(401, 2), TokenExpired),
        (ANNOUNCE, Answer.of_json({"media_id": "1"}, 201), Transient),
        (STORE, Answer(403, b"<Error/>"), Transient),
        (STORE, Answer(503), Transient),
    ],
)
def test_a_refused_upload_is_translated(
    server: FakePinterest, grant: Grant, call: str, answer: Answer, expected: type[PlatformError]
) -> None:
    server.refuse_next(call, answer)

    with pytest.raises(PlatformError) as caught:
        publish(grant, pin(media_file(MP4, "video/mp4")))

    assert type(caught.value) is expected
    assert server.requests_to(CREATE) == 0


def test_a_video_is_sent_by_https_only(server: FakePinterest, grant: Grant) -> None:
    with FakePinterest() as other:
        announced = {"media_id": "1", "upload_url": f"{other.url}/upload", "upload_parameters": {}}
        server.refuse_next(ANNOUNCE, Answer.of_json(announced, 201))

        with pytest.raises(Transient):
            publish(grant, pin(media_file(MP4, "video/mp4")))

        assert not other.requests


@pytest.mark.parametrize("reset", ["42", str(int(NOON.timestamp()) + 42)])
def test_the_rate_limit_names_the_waiting_time_or_the_reset_time(server: FakePinterest, grant: Grant, reset: str) -> None:
    server.refuse_next(CREATE, Answer(429, b'{"code": 8, "message": "no"}', {"x-ratelimit-reset": reset}))

    with pytest.raises(RateLimited) as caught:
        publish(grant, pin())

    assert caught.value.retry_after == 42
