from __future__ import annotations

from datetime import UTC, datetime

import pytest
import time_machine

from accounts.platforms.errors import (
    ConnectionUnavailable,
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    RateLimited,
    ReauthRequired,
    TokenExpired,
    Transient,
)
from accounts.platforms.types import Progress
from tests.accounts.platforms.adapter_steps import Account, bytes_of
from tests.accounts.platforms.youtube.content import MIB, google_error, post, video
from tests.fakes.http_server import Answer
from tests.fakes.youtube import ASK, LAST, OPEN, PIECE, FakeYouTube


@pytest.mark.parametrize(
    ("call", "answer", "error", "reported"),
    [
        (OPEN, google_error(401, "youtubeSignupRequired"), ReauthRequired, ""),
        (OPEN, google_error(403, "insufficientPermissions"), ReauthRequired, ""),
        (OPEN, google_error(403, "authenticatedUserAccountSuspended"), ReauthRequired, ""),
        (OPEN, google_error(403, "accessNotConfigured"), ConnectionUnavailable, ""),
        (OPEN, google_error(403, "userRateLimitExceeded"), RateLimited, ""),
        (OPEN, google_error(403, "forbiddenPrivacySetting"), ContentRejected, ""),
        (OPEN, google_error(409, "conflict"), Transient, ""),
        (PIECE, google_error(401, "authError"), TokenExpired, ""),
        (PIECE, google_error(400, "invalidTitle"), ContentRejected, ""),
        (PIECE, Answer(413, b"<html>"), ContentRejected, ""),
        (PIECE, google_error(500, "backendError"), Transient, ""),
        (LAST, google_error(400, "uploadLimitExceeded"), RateLimited, ""),
        (LAST, google_error(500, "backendError"), OutcomeUnknown, ""),
        (OPEN, google_error(400, "newReason", "Hello is no title"), ContentRejected, "400 newReason"),
        (OPEN, google_error(403, "newReason"), Transient, "403 newReason"),
        (OPEN, Answer(302, b"", {"Location": "/elsewhere"}), Transient, "302"),
    ],
)
def test_documented_errors_are_translated_and_others_are_reported_by_their_code(
    server: FakeYouTube,
    account: Account,
    caplog: pytest.LogCaptureFixture,
    call: str,
    answer: Answer,
    error: type[PlatformError],
    reported: str,
) -> None:
    server.refuse_next(call, answer)

    with pytest.raises(PlatformError) as caught:
        account.publish(post(file=video(9 if call == PIECE else 0)))

    assert type(caught.value) is error
    assert server.videos("alice") == []
    assert [record.getMessage().rpartition(": ")[2] for record in caplog.records] == ([reported] if reported else [])
    assert "Hello" not in caplog.text


@pytest.mark.parametrize(
    ("now", "hours"),
    [
        (datetime(2026, 11, 20, 12, 0, tzinfo=UTC), 20),  # 4 in the morning in California
        (datetime(2026, 7, 20, 6, 30, tzinfo=UTC), 0.5),  # half an hour before midnight there, in summer
        (datetime(2026, 11, 1, 7, 0, tzinfo=UTC), 25),  # the day on which summer time ends
    ],
)
def test_the_daily_quota_is_reset_at_midnight_in_california(
    server: FakeYouTube, account: Account, now: datetime, hours: float
) -> None:
    with time_machine.travel(now, tick=False):
        account.grant = account.adapter.refresh_grant(account.grant)
        server.use_up_quota()
        with pytest.raises(RateLimited) as caught:
            account.step(post())

    assert caught.value.retry_after == hours * 3600 + 60


@pytest.mark.parametrize("arrived", [0, MIB])
@pytest.mark.parametrize("call", [PIECE, LAST])
def test_an_interrupted_upload_continues_at_the_byte_that_youtube_names(
    server: FakeYouTube, account: Account, call: str, arrived: int
) -> None:
    content = post(file=video(15))
    progress = account.go_to("upload" if call == PIECE else "finish", content)
    server.cut_next_piece(call, arrived)
    with pytest.raises(Transient if call == PIECE else OutcomeUnknown):
        account.step(content, progress)

    account.publish(content, progress)

    [shown] = server.videos("alice")
    assert shown["content"] == bytes_of(content.media[0])
    assert server.requests_to(OPEN) == 1
    sent = [len(request.body) for request in server.requests if server.call_of(request) in (PIECE, LAST)]
    lost = sent[0 if call == PIECE else 1] - arrived
    assert sum(sent) == len(shown["content"]) + lost


@pytest.mark.parametrize("phase", ["start", "upload", "finish", "process"])
def test_a_repeated_step_uploads_no_second_video(server: FakeYouTube, account: Account, phase: str) -> None:
    """The worker died before it stored the progress."""
    content = post(file=video(17))
    progress = account.go_to(phase, content)
    account.step(content, progress)

    made = account.publish(content, progress)

    [shown] = server.videos("alice")
    assert (made.external_id, shown["content"]) == (shown["id"], bytes_of(content.media[0]))


@pytest.mark.parametrize("phase", ["upload", "finish"])
def test_an_upload_that_youtube_forgets_is_started_again_twice(server: FakeYouTube, account: Account, phase: str) -> None:
    content, progress = post(file=video(9)), Progress("start")
    for _ in range(2):
        progress = account.go_to(phase, content, progress)
        server.forget_sessions()
        progress = account.next(content, progress)
        assert progress.phase == "start"
    progress = account.go_to(phase, content, progress)

    account.publish(content, progress)
    assert len(server.videos("alice")) == 1
    server.forget_sessions()
    with pytest.raises(Transient):
        account.step(content, progress)


def test_an_upload_that_ends_at_the_last_piece_is_started_again(server: FakeYouTube, account: Account) -> None:
    server.refuse_next(LAST, Answer(410, b"Gone"))

    account.publish(post())

    assert (len(server.videos("alice")), server.requests_to(OPEN)) == (1, 2)


@pytest.mark.parametrize(
    "location",
    ["", "https://evil.example/upload", "https://googleapis.com.evil.example/", "https://x.googleapis.com@evil.example/"],
)
def test_nothing_is_uploaded_to_another_host(server: FakeYouTube, account: Account, location: str) -> None:
    server.refuse_next(OPEN, Answer(200, b"", {"Location": location}))

    with pytest.raises(Transient):
        account.step(post())


@pytest.mark.parametrize("header", ["bytes=0-8388607x", "bytes=5-10", "0"])
def test_an_unreadable_range_is_requested_again(server: FakeYouTube, account: Account, header: str) -> None:
    content = post(file=video(9))
    progress = account.go_to("upload", content)
    server.refuse_next(ASK, Answer(308, b"", {"Range": header}))

    with pytest.raises(Transient):
        account.step(content, progress)
    account.publish(content, progress)


@pytest.mark.parametrize("call", [PIECE, LAST])
def test_an_upload_that_does_not_advance_fails(server: FakeYouTube, account: Account, call: str) -> None:
    server.refuse_next(call, Answer(308, b""))

    with pytest.raises(Transient, match="keeps nothing"):
        account.publish(post(file=video(9 if call == PIECE else 0)))

    assert server.videos("alice") == []
