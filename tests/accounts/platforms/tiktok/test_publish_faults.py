from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

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
from accounts.platforms.types import Content, Progress
from tests.accounts.platforms.adapter_steps import Account, bytes_of
from tests.accounts.platforms.contract.world import World
from tests.accounts.platforms.tiktok.content import data, photo, post, refused, video
from tests.fakes.http_server import Answer
from tests.fakes.tiktok import CHUNK, CREATOR, LAST, PHOTOS, VIDEO, FakeTikTok

NOT_AUDITED = "unaudited_client_can_only_post_to_private_accounts"
DAY, MINUTE = 4 * 3600, 60


def post_for(call: str) -> Content:
    """A post that needs this call."""
    return post("Photos", photo("a")) if call == PHOTOS else post("Look", video(20 if call == CHUNK else 0))


@pytest.mark.parametrize(
    ("call", "answer", "error", "reported"),
    [
        (CREATOR, refused(401, "access_token_invalid"), TokenExpired, ""),
        (VIDEO, refused(200, "access_token_invalid"), TokenExpired, ""),
        (VIDEO, refused(401, "scope_not_authorized"), ReauthRequired, ""),
        (PHOTOS, refused(403, "reached_active_user_cap"), ConnectionUnavailable, ""),
        (VIDEO, refused(403, NOT_AUDITED), ConnectionUnavailable, ""),
        (CREATOR, refused(403, "spam_risk_user_banned_from_posting"), ContentRejected, ""),
        (PHOTOS, refused(200, "invalid_params"), ContentRejected, ""),
        (VIDEO, refused(200, "internal_error"), Transient, ""),
        (PHOTOS, refused(200, "internal_error"), OutcomeUnknown, ""),
        (PHOTOS, Answer(503), OutcomeUnknown, ""),
        (VIDEO, refused(400, "new_code", "Hello is odd"), ContentRejected, "400 new_code"),
        (VIDEO, Answer(302, b"", {"Location": "/elsewhere"}), Transient, "302"),
        (CHUNK, Answer(429), RateLimited, ""),
        (CHUNK, Answer(401), Transient, ""),
        (CHUNK, Answer(400), ContentRejected, ""),
        (CHUNK, Answer(503), Transient, ""),
        (LAST, Answer(400), ContentRejected, ""),
        (LAST, Answer(503), OutcomeUnknown, ""),
        (LAST, Answer(418), Transient, "418"),
    ],
)
def test_documented_errors_are_translated_and_others_are_reported_by_their_code(
    server: FakeTikTok,
    account: Account,
    caplog: pytest.LogCaptureFixture,
    call: str,
    answer: Answer,
    error: type[PlatformError],
    reported: str,
) -> None:
    server.refuse_next(call, answer)

    with pytest.raises(PlatformError) as caught:
        account.publish(post_for(call))

    assert type(caught.value) is error
    assert server.posts("alice") == []
    assert [record.getMessage().rpartition(": ")[2] for record in caplog.records] == ([reported] if reported else [])
    assert "Hello" not in caplog.text
    if error is ConnectionUnavailable:
        assert "operator" in caught.value.suggested_action


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        (refused(403, "spam_risk_too_many_posts"), DAY),
        (refused(403, "spam_risk_too_many_pending_share"), DAY),
        (refused(429, "rate_limit_exceeded"), MINUTE),
        (Answer(429, b"", {"Retry-After": "7"}), 7),
    ],
)
def test_a_daily_limit_pauses_for_hours_and_other_limits_for_a_minute(
    server: FakeTikTok, account: Account, answer: Answer, seconds: int
) -> None:
    server.refuse_next(VIDEO, answer)

    with pytest.raises(RateLimited) as caught:
        account.step(post())

    assert caught.value.retry_after == seconds


@pytest.mark.parametrize("arrived", [True, False])
def test_a_chunk_without_an_answer_is_sent_again_or_skipped(server: FakeTikTok, account: Account, arrived: bool) -> None:
    content = post("Look", video(31))
    progress = account.go_to("upload", content)
    server.drop_next(CHUNK, after_accept=arrived)
    with pytest.raises(Transient):
        account.step(content, progress)

    account.publish(content, progress)

    [shown] = server.posts("alice")
    assert shown["content"] == bytes_of(content.media[0])
    assert server.requests_to(VIDEO) == 1


@pytest.mark.parametrize("phase", ["start", "upload", "finish", "poll"])
@pytest.mark.parametrize("says_received", [True, False])
def test_a_repeated_step_publishes_no_second_post(
    server: FakeTikTok, account: Account, phase: str, says_received: bool
) -> None:
    """The worker died before it stored the progress; TikTok may not say how many bytes it has."""
    content = post("Look", video(31))
    progress = account.go_to(phase, content)
    account.step(content, progress)
    if not says_received:
        server.hide_received_bytes()

    if phase == "finish":  # the engine searches for the post first
        found = account.find(content, progress)
        assert isinstance(found, Progress)
        progress = found
    made = account.publish(content, progress)

    [shown] = server.posts("alice")
    assert (made.external_id, shown["content"]) == (shown["id"], bytes_of(content.media[0]))


@pytest.mark.parametrize("phase", ["upload", "finish"])
def test_an_expired_upload_address_is_replaced_twice(server: FakeTikTok, world: World, account: Account, phase: str) -> None:
    content, progress = post("Look", video(20)), Progress("start")
    with time_machine.travel(timezone.now(), tick=False) as clock:
        account.grant = world.connection().grant
        for _ in range(2):
            progress = account.go_to(phase, content, progress)
            clock.shift(timedelta(hours=1))
            progress = account.next(content, progress)
            assert progress.phase == "start"
        account.grant = account.adapter.refresh_grant(account.grant)
        last = account.go_to(phase, content, progress)
        account.publish(content, last)
        assert len(server.posts("alice")) == 1

        clock.shift(timedelta(hours=1))
        account.grant = account.adapter.refresh_grant(account.grant)
        expired = account.next(content, last)
        with pytest.raises(Transient, match="repeatedly ends"):
            account.step(content, expired)


def test_a_last_chunk_that_has_arrived_is_not_announced_again(server: FakeTikTok, account: Account) -> None:
    progress = account.go_to("finish", post())
    server.drop_next(LAST)
    with pytest.raises(OutcomeUnknown):
        account.step(post(), progress)

    account.publish(post(), progress)

    assert (len(server.posts("alice")), server.requests_to(VIDEO), server.requests_to(LAST)) == (1, 1, 2)


def test_chunks_that_do_not_fit_are_sent_again_unless_tiktok_may_have_the_video(server: FakeTikTok, account: Account) -> None:
    content = post("Look", video(20))
    progress = account.go_to("finish", content)
    server.refuse_next(LAST, Answer(416), times=2)
    assert account.step(content, progress) == Progress("start", {"announced": 1})

    server.hide_received_bytes()
    with pytest.raises(OutcomeUnknown):
        account.step(content, progress)


@pytest.mark.parametrize("answer", [Answer(200, b"<html>"), data(), data(publish_id=7), Answer.of_json({"data": {}})])
def test_an_announcement_without_a_publish_id_is_an_error(server: FakeTikTok, account: Account, answer: Answer) -> None:
    server.refuse_next(VIDEO, answer)
    with pytest.raises(Transient):
        account.step(post())
    server.refuse_next(PHOTOS, answer, after_accept=True)
    with pytest.raises(OutcomeUnknown):
        account.publish(post("Photos", photo("a")))


@pytest.mark.parametrize("taken", [True, False])
def test_the_outcome_of_photos_without_an_answer_stays_unknown(server: FakeTikTok, account: Account, taken: bool) -> None:
    content = post("Photos", photo("a"))
    progress = account.go_to("create", content)
    server.drop_next(PHOTOS, after_accept=taken)

    with pytest.raises(OutcomeUnknown):
        account.step(content, progress)

    assert len(server.posts("alice")) == int(taken)
    with pytest.raises(OutcomeUnknown) as caught:
        account.find(content, progress)
    assert caught.value.final


@pytest.mark.parametrize(
    "address",
    [None, "https://evil.example/video", "http://open-upload.tiktokapis.com/", "https://tiktokapis.com.evil.example/"],
)
def test_nothing_is_uploaded_to_another_host(server: FakeTikTok, account: Account, address: object) -> None:
    server.refuse_next(VIDEO, data(publish_id="v_1", upload_url=address))

    with pytest.raises(Transient):
        account.step(post())


def test_the_upload_address_is_encrypted_for_its_post(server: FakeTikTok, account: Account) -> None:
    progress = account.go_to("finish", post())
    other = Content("tgt_2", "Hello", {"privacy_level": "SELF_ONLY"}, media=(video(),))

    assert account.step(other, progress) == Progress("start", {"announced": 1})
    assert server.requests_to(LAST) == 0
