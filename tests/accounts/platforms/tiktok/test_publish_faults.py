from __future__ import annotations

import socket
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone
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
from accounts.platforms.tiktok.adapter import TikTok
from accounts.platforms.types import Absent, Content, Grant, Progress
from tests.accounts.platforms.tiktok.steps import bytes_of, connect, go_to, photo, post, publish, step, video
from tests.fakes.http_server import Answer
from tests.fakes.tiktok import CHUNK, CREATOR, LAST, PHOTOS, VIDEO, FakeTikTok


def refused(status: int, code: str, message: str = "no") -> Answer:
    return Answer.of_json({"data": {}, "error": {"code": code, "message": message, "log_id": "1"}}, status)


def told(**data: object) -> Answer:
    return Answer.of_json({"data": data, "error": {"code": "ok"}})


def content_for(call: str) -> Content:
    return post("Photos", photo("a")) if call == PHOTOS else post(privacy_level="SELF_ONLY")


REFUSALS = [
    (refused(401, "access_token_invalid"), TokenExpired),
    (refused(200, "access_token_invalid"), TokenExpired),
    (refused(401, "scope_not_authorized"), AccountDisconnected),
    (refused(429, "rate_limit_exceeded"), RateLimited),
    (refused(403, "spam_risk_too_many_posts"), RateLimited),
    (refused(403, "reached_active_user_cap"), ConnectionUnavailable),
    (refused(403, "unaudited_client_can_only_post_to_private_accounts"), ConnectionUnavailable),
    (refused(403, "spam_risk_user_banned_from_posting"), ContentRejected),
    (refused(200, "invalid_params"), ContentRejected),
    (Answer(503), Transient),
    (refused(200, "internal_error"), Transient),
]


@pytest.mark.parametrize(("answer", "fault"), REFUSALS)
@pytest.mark.parametrize("call", [CREATOR, VIDEO, PHOTOS])
def test_a_refusal_is_told_by_what_helps(
    tiktok: TikTok,
    server: FakeTikTok,
    grant: Grant,
    caplog: pytest.LogCaptureFixture,
    call: str,
    answer: Answer,
    fault: type[PlatformError],
) -> None:
    server.refuse_next(call, answer)

    with pytest.raises(PlatformError) as caught:
        publish(tiktok, grant, content_for(call))

    unknown = call == PHOTOS and fault is Transient
    assert type(caught.value) is (OutcomeUnknown if unknown else fault)
    assert (server.posts("alice"), caplog.records) == ([], [])
    if fault is ConnectionUnavailable:
        assert "operator" in caught.value.suggested_action


def test_a_limit_of_the_day_and_an_app_without_an_audit_are_told_by_tiktok_itself(
    tiktok: TikTok, server: FakeTikTok, grant: Grant
) -> None:
    server.leave_room_for(0)
    with pytest.raises(RateLimited) as caught:
        step(tiktok, grant, post())
    assert caught.value.retry_after == 4 * 3600
    server.is_not_audited()
    with pytest.raises(ConnectionUnavailable, match="audited"):
        step(tiktok, grant, post())


@pytest.mark.parametrize(
    ("answer", "fault", "code"),
    [
        (refused(400, "new_code", "Hello is odd"), ContentRejected, "400 new_code"),
        (Answer(418, b""), Transient, "418"),
        (Answer(302, b"", {"Location": "/elsewhere"}), Transient, "302"),
    ],
)
def test_what_is_not_known_is_logged_by_its_code_only(
    tiktok: TikTok,
    server: FakeTikTok,
    grant: Grant,
    caplog: pytest.LogCaptureFixture,
    answer: Answer,
    fault: type[PlatformError],
    code: str,
) -> None:
    server.refuse_next(VIDEO, answer)

    with pytest.raises(fault):
        step(tiktok, grant, post())

    [record] = caplog.records
    assert (record.levelname, record.getMessage().endswith(f": {code}")) == ("WARNING", True)
    assert "Hello" not in caplog.text


@pytest.mark.parametrize(
    ("status", "fault"),
    [(429, RateLimited), (400, ContentRejected), (413, ContentRejected), (503, Transient), (418, Transient)],
)
@pytest.mark.parametrize("call", [CHUNK, LAST])
def test_a_chunk_that_is_refused_is_told_by_what_helps(
    tiktok: TikTok, server: FakeTikTok, grant: Grant, call: str, status: int, fault: type[PlatformError]
) -> None:
    server.refuse_next(call, Answer(status))

    with pytest.raises(PlatformError) as caught:
        publish(tiktok, grant, post("Look", video(20 if call == CHUNK else 0)))

    unknown = call == LAST and status == 503
    assert type(caught.value) is (OutcomeUnknown if unknown else fault)
    assert server.posts("alice") == []


@pytest.mark.parametrize("taken", [True, False])
def test_a_chunk_whose_answer_was_lost_is_sent_again_or_gone_on_from(
    tiktok: TikTok, server: FakeTikTok, grant: Grant, taken: bool
) -> None:
    content = post("Look", video(31))
    progress = go_to("upload", tiktok, grant, content)
    server.drop_next(CHUNK, after_accept=taken)
    with pytest.raises(Transient):
        step(tiktok, grant, content, progress)

    publish(tiktok, grant, content, progress)

    [shown] = server.posts("alice")
    assert shown["content"] == bytes_of(content.media[0])
    assert server.requests_to(VIDEO) == 1


@pytest.mark.parametrize("phase", ["start", "upload", "finish", "poll"])
@pytest.mark.parametrize("tells", [True, False])
def test_a_step_whose_worker_died_before_anybody_stored_it_makes_no_second_post(
    tiktok: TikTok, server: FakeTikTok, grant: Grant, phase: str, tells: bool
) -> None:
    content = post("Look", video(31))
    progress = go_to(phase, tiktok, grant, content)
    step(tiktok, grant, content, progress)
    if not tells:
        server.keep_received_to_itself()

    if phase == "finish":  # the engine looks first
        found = tiktok.find(grant, content, progress)
        assert not isinstance(found, Absent)
        progress = found
    made = publish(tiktok, grant, content, progress)

    [shown] = server.posts("alice")
    assert (made.external_id, shown["content"]) == (shown["id"], bytes_of(content.media[0]))


@pytest.mark.parametrize("phase", ["upload", "finish"])
def test_an_address_that_has_run_out_is_asked_for_anew_a_few_times(
    tiktok: TikTok, server: FakeTikTok, phase: str
) -> None:
    content = post("Look", video(20))
    with time_machine.travel(timezone.now(), tick=False) as clock:
        grant, progress = connect(tiktok, server).grant, Progress("start")
        for _ in range(2):
            progress = go_to(phase, tiktok, grant, content, progress)
            clock.shift(timedelta(hours=1))
            again = step(tiktok, grant, content, progress)
            assert isinstance(again, Progress)
            assert again.phase == "start"
            progress = again
        grant = tiktok.refresh(grant)
        last = go_to(phase, tiktok, grant, content, progress)
        publish(tiktok, grant, content, last)
        assert len(server.posts("alice")) == 1

        clock.shift(timedelta(hours=1))
        over = step(tiktok, tiktok.refresh(grant), content, last)
        assert isinstance(over, Progress)
        with pytest.raises(Transient, match="repeatedly ends"):
            step(tiktok, grant, content, over)


def test_a_last_chunk_that_is_there_already_is_not_announced_anew(
    tiktok: TikTok, server: FakeTikTok, grant: Grant
) -> None:
    progress = go_to("finish", tiktok, grant, post())
    server.drop_next(LAST)
    with pytest.raises(OutcomeUnknown):
        step(tiktok, grant, post(), progress)

    publish(tiktok, grant, post(), progress)

    assert (len(server.posts("alice")), server.requests_to(VIDEO), server.requests_to(LAST)) == (1, 1, 2)


def test_chunks_that_do_not_fit_together_are_sent_anew_or_left_to_a_person(
    tiktok: TikTok, server: FakeTikTok, grant: Grant
) -> None:
    content = post("Look", video(20))
    progress = go_to("finish", tiktok, grant, content)
    server.refuse_next(LAST, Answer(416), times=2)
    assert step(tiktok, grant, content, progress) == Progress("start", {"announced": 1})

    server.keep_received_to_itself()
    with pytest.raises(OutcomeUnknown):
        step(tiktok, grant, content, progress)


@pytest.mark.parametrize("answer", [Answer(200, b"<html>"), told(), told(publish_id=7), Answer.of_json({"data": {}})])
def test_an_announcement_whose_answer_names_nothing(
    tiktok: TikTok, server: FakeTikTok, grant: Grant, answer: Answer
) -> None:
    server.refuse_next(VIDEO, answer)
    with pytest.raises(Transient):
        step(tiktok, grant, post())
    server.refuse_next(PHOTOS, answer, after_accept=True)
    with pytest.raises(OutcomeUnknown):
        publish(tiktok, grant, post("Photos", photo("a")))


@pytest.mark.parametrize("taken", [True, False])
def test_photos_whose_announcement_was_not_answered_may_be_out(
    tiktok: TikTok, server: FakeTikTok, grant: Grant, taken: bool
) -> None:
    content = post("Photos", photo("a"))
    progress = go_to("create", tiktok, grant, content)
    server.drop_next(PHOTOS, after_accept=taken)

    with pytest.raises(OutcomeUnknown):
        step(tiktok, grant, content, progress)

    assert len(server.posts("alice")) == int(taken)
    with pytest.raises(OutcomeUnknown) as caught:
        tiktok.find(grant, content, progress)
    assert caught.value.final


@pytest.mark.parametrize(
    "address",
    [None, "https://evil.example/video", "http://open-upload.tiktokapis.com/", "https://tiktokapis.com.evil.example/"],
)
def test_nothing_is_sent_to_an_address_that_is_not_tiktoks(
    tiktok: TikTok, server: FakeTikTok, grant: Grant, address: object
) -> None:
    server.refuse_next(VIDEO, told(publish_id="v_1", upload_url=address))

    with pytest.raises(Transient):
        step(tiktok, grant, post())


def test_the_address_of_an_upload_opens_for_its_post_alone(tiktok: TikTok, server: FakeTikTok, grant: Grant) -> None:
    progress = go_to("finish", tiktok, grant, post())
    other = Content("tgt_2", "Hello", {"privacy_level": "SELF_ONLY"}, media=(video(),))

    assert step(tiktok, grant, other, progress) == Progress("start", {"announced": 1})
    assert server.requests_to(LAST) == 0


def test_a_server_that_cannot_be_reached_took_nothing(
    tiktok: TikTok, server: FakeTikTok, grant: Grant, settings: Settings
) -> None:
    content = post("Photos", photo("a"))
    progress = go_to("create", tiktok, grant, content)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        away = {"TIKTOK_API_BASE": f"http://127.0.0.1:{unused.getsockname()[1]}"}
        settings.PLATFORM_SETTINGS = {**settings.PLATFORM_SETTINGS, **away}
        for what, at in [(post(), Progress("start")), (content, progress)]:
            with pytest.raises(Transient):
                step(tiktok, grant, what, at)


def test_no_fault_names_a_token_an_address_or_the_text(tiktok: TikTok, server: FakeTikTok, grant: Grant) -> None:
    shown: list[str] = []
    for call in (CREATOR, VIDEO, CHUNK, LAST):
        for status in (400, 401, 403, 429, 500):
            server.refuse_next(call, refused(status, "spam_risk_text"))
            try:
                publish(tiktok, grant, post("the text", video(20 if call == CHUNK else 0)))
            except PlatformError as fault:
                shown.append(f"{fault!r} {fault.__cause__!r}")

    text = " ".join(shown)
    assert len(shown) >= 16
    assert not any(secret in text for secret in (*grant.tokens.values(), "upload_token", "the text"))
