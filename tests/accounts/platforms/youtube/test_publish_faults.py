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
from accounts.platforms.types import Grant, Progress
from accounts.platforms.youtube.adapter import YouTube
from tests.accounts.platforms.youtube.steps import MIB, bytes_of, go_to, post, publish, step, video
from tests.fakes.http_server import Answer
from tests.fakes.youtube import ASK, LAST, OPEN, PIECE, FakeYouTube


def google_error(status: int, reason: str, message: str = "no") -> Answer:
    told = {"code": status, "message": message, "errors": [{"domain": "youtube", "reason": reason, "message": message}]}
    return Answer.of_json({"error": told}, status)


REFUSALS = [
    (google_error(401, "authError"), TokenExpired),
    (google_error(403, "userRateLimitExceeded"), RateLimited),
    (google_error(400, "invalidTitle"), ContentRejected),
    (google_error(500, "backendError"), Transient),
]


@pytest.mark.parametrize(
    ("call", "answer", "fault"),
    [
        *((call, *refusal) for call in (OPEN, PIECE, LAST) for refusal in REFUSALS),
        (OPEN, Answer(401, b""), TokenExpired),
        (OPEN, google_error(401, "youtubeSignupRequired"), AccountDisconnected),
        (OPEN, google_error(403, "insufficientPermissions"), AccountDisconnected),
        (OPEN, google_error(403, "authenticatedUserAccountSuspended"), AccountDisconnected),
        (OPEN, google_error(403, "accessNotConfigured"), ConnectionUnavailable),
        (OPEN, google_error(403, "quotaExceeded"), RateLimited),
        (OPEN, Answer(429), RateLimited),
        (LAST, google_error(400, "uploadLimitExceeded"), RateLimited),
        (OPEN, google_error(403, "forbiddenPrivacySetting"), ContentRejected),
        (PIECE, Answer(413, b"<html>"), ContentRejected),
        (OPEN, Answer(503, b"<html>"), Transient),
    ],
)
def test_a_refusal_is_told_by_what_helps(
    youtube: YouTube,
    server: FakeYouTube,
    grant: Grant,
    caplog: pytest.LogCaptureFixture,
    call: str,
    answer: Answer,
    fault: type[PlatformError],
) -> None:
    server.refuse_next(call, answer)

    with pytest.raises(PlatformError) as caught:
        publish(youtube, grant, post(file=video(9 if call == PIECE else 0)))

    unknown = call == LAST and fault is Transient
    assert type(caught.value) is (OutcomeUnknown if unknown else fault)
    assert (server.videos("alice"), caplog.records) == ([], [])
    if fault is ConnectionUnavailable:
        assert "operator" in caught.value.suggested_action


@pytest.mark.parametrize(
    ("answer", "fault", "code"),
    [
        (google_error(400, "newReason", "Hello is no title"), ContentRejected, "400 newReason"),
        (google_error(403, "newReason"), Transient, "403 newReason"),
        (Answer(418, b""), Transient, "418"),
        (Answer(302, b"", {"Location": "/elsewhere"}), Transient, "302"),
    ],
)
def test_what_is_not_known_is_logged_by_its_code_only(
    youtube: YouTube,
    server: FakeYouTube,
    grant: Grant,
    caplog: pytest.LogCaptureFixture,
    answer: Answer,
    fault: type[PlatformError],
    code: str,
) -> None:
    server.refuse_next(OPEN, answer)

    with pytest.raises(fault):
        step(youtube, grant, post())

    [record] = caplog.records
    assert (record.levelname, record.getMessage().endswith(f": {code}")) == ("WARNING", True)
    assert "Hello" not in caplog.text


@pytest.mark.parametrize(
    ("now", "hours"),
    [
        (datetime(2026, 11, 20, 12, 0, tzinfo=UTC), 20),  # 4 in the morning in California
        (datetime(2026, 7, 20, 6, 30, tzinfo=UTC), 0.5),  # half an hour before midnight there, in summer
        (datetime(2026, 11, 1, 7, 0, tzinfo=UTC), 25),  # the day on which summer time ends
    ],
)
def test_a_quota_that_is_used_up_is_waited_for_until_midnight_in_california(
    youtube: YouTube, server: FakeYouTube, grant: Grant, now: datetime, hours: float
) -> None:
    with time_machine.travel(now, tick=False):
        grant = youtube.refresh(grant)
        server.use_up_quota()
        with pytest.raises(RateLimited) as caught:
            step(youtube, grant, post())
        assert caught.value.retry_after == hours * 3600 + 60
        server.new_day()
        publish(youtube, grant, post())


@pytest.mark.parametrize("keep", [0, MIB])
@pytest.mark.parametrize("call", [PIECE, LAST])
def test_an_upload_that_was_cut_goes_on_at_the_byte_that_youtube_names(
    youtube: YouTube, server: FakeYouTube, grant: Grant, call: str, keep: int
) -> None:
    content = post(file=video(15))
    progress = go_to("upload" if call == PIECE else "finish", youtube, grant, content)
    server.cut_next_piece(call, keep)
    with pytest.raises(Transient if call == PIECE else OutcomeUnknown):
        step(youtube, grant, content, progress)

    publish(youtube, grant, content, progress)

    [shown] = server.videos("alice")
    assert shown["content"] == bytes_of(content.media[0])
    assert server.requests_to(OPEN) == 1
    sent = [len(request.body) for request in server.requests if server.call_of(request) in (PIECE, LAST)]
    lost = sent[0 if call == PIECE else 1] - keep
    assert sum(sent) == len(shown["content"]) + lost


@pytest.mark.parametrize("phase", ["start", "upload", "finish", "process"])
def test_a_step_whose_worker_died_before_anybody_stored_it_makes_no_second_video(
    youtube: YouTube, server: FakeYouTube, grant: Grant, phase: str
) -> None:
    content = post(file=video(17))
    progress = go_to(phase, youtube, grant, content)
    step(youtube, grant, content, progress)

    made = publish(youtube, grant, content, progress)

    [shown] = server.videos("alice")
    assert (made.external_id, shown["content"]) == (shown["id"], bytes_of(content.media[0]))


@pytest.mark.parametrize("phase", ["upload", "finish"])
def test_an_upload_that_youtube_has_forgotten_is_begun_anew_a_few_times(
    youtube: YouTube, server: FakeYouTube, grant: Grant, phase: str
) -> None:
    content, progress = post(file=video(9)), Progress("start")
    for _ in range(2):
        progress = go_to(phase, youtube, grant, content, progress)
        server.forget_sessions()
        again = step(youtube, grant, content, progress)
        assert isinstance(again, Progress)
        assert again.phase == "start"
        progress = again
    progress = go_to(phase, youtube, grant, content, progress)

    publish(youtube, grant, content, progress)
    assert len(server.videos("alice")) == 1
    server.forget_sessions()
    with pytest.raises(Transient):
        step(youtube, grant, content, progress)


def test_a_session_that_ends_under_the_last_piece_is_begun_anew(
    youtube: YouTube, server: FakeYouTube, grant: Grant
) -> None:
    server.refuse_next(LAST, Answer(410, b"Gone"))

    publish(youtube, grant, post())

    assert (len(server.videos("alice")), server.requests_to(OPEN)) == (1, 2)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(500),
        Answer(504),
        Answer(200, b""),
        Answer(201, b"<html>"),
        Answer.of_json({"kind": "youtube#video"}),
        Answer.of_json({"id": "../1"}),
    ],
)
def test_an_answer_to_the_last_piece_that_names_no_video_leaves_the_outcome_open(
    youtube: YouTube, server: FakeYouTube, grant: Grant, answer: Answer
) -> None:
    progress = go_to("finish", youtube, grant, post())
    server.refuse_next(LAST, answer, after_accept=True)

    with pytest.raises(OutcomeUnknown) as caught:
        step(youtube, grant, post(), progress)

    assert not caught.value.final


@pytest.mark.parametrize(
    "location",
    [
        "",
        "https://evil.example/upload",
        "https://googleapis.com.evil.example/",
        "https://a@x.googleapis.com@evil.example/",
    ],
)
def test_nothing_is_sent_to_an_address_that_is_not_googles(
    youtube: YouTube, server: FakeYouTube, grant: Grant, location: str
) -> None:
    server.refuse_next(OPEN, Answer(200, b"", {"Location": location}))

    with pytest.raises(Transient):
        step(youtube, grant, post())


@pytest.mark.parametrize("told", ["bytes=0-8388607x", "bytes=5-10", "0"])
def test_a_range_that_cannot_be_read_is_asked_for_again(
    youtube: YouTube, server: FakeYouTube, grant: Grant, told: str
) -> None:
    content = post(file=video(9))
    progress = go_to("upload", youtube, grant, content)
    server.refuse_next(ASK, Answer(308, b"", {"Range": told}))

    with pytest.raises(Transient):
        step(youtube, grant, content, progress)
    publish(youtube, grant, content, progress)


@pytest.mark.parametrize("call", [PIECE, LAST])
def test_a_server_that_keeps_nothing_is_not_sent_to_without_end(
    youtube: YouTube, server: FakeYouTube, grant: Grant, call: str
) -> None:
    server.refuse_next(call, Answer(308, b""))

    with pytest.raises(Transient, match="keeps nothing"):
        publish(youtube, grant, post(file=video(9) if call == PIECE else video()))

    assert server.videos("alice") == []


def test_a_server_that_cannot_be_reached_took_nothing(
    youtube: YouTube, server: FakeYouTube, grant: Grant, settings: Settings
) -> None:
    progress = go_to("finish", youtube, grant, post())
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        settings.PLATFORM_SETTINGS = {"YOUTUBE_API_BASE": f"http://127.0.0.1:{unused.getsockname()[1]}"}
        with pytest.raises(Transient):
            step(youtube, grant, post())
    server.drop_next(ASK)
    with pytest.raises(Transient):
        step(youtube, grant, post(), progress)


def test_no_fault_names_a_token_an_upload_or_the_text(youtube: YouTube, server: FakeYouTube, grant: Grant) -> None:
    shown: list[str] = []
    content = post("the text", file=video(9))
    for call in (OPEN, PIECE, LAST):
        for status in (400, 401, 403, 429, 500):
            server.refuse_next(call, google_error(status, "forbidden"))
            with pytest.raises(PlatformError) as caught:
                publish(youtube, grant, content)
            shown.append(f"{caught.value!r} {caught.value.__cause__!r}")

    text = " ".join(shown)
    assert not any(secret in text for secret in (*grant.tokens.values(), "upload_id", "the text"))
