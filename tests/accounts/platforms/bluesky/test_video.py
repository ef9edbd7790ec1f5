"""Bluesky videos are processed by the video service, which stores them as blobs at the account's server."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from accounts.platforms.base import START
from accounts.platforms.bluesky.adapter import Bluesky
from accounts.platforms.bluesky.video import MAX_CHECKS, MAX_VIDEO_JOBS
from accounts.platforms.errors import ContentRejected, PlatformError, RateLimited, TokenExpired, Transient
from accounts.platforms.types import Content, Grant, MediaFile, Progress
from tests.accounts.platforms.bluesky.scripted_server import DID, UPLOAD_BLOB, ScriptedServer
from tests.accounts.platforms.bluesky.steps import prepare, put, step
from tests.accounts.platforms.media_files import MP4, media_file
from tests.fakes.bluesky import FakeBluesky
from tests.fakes.bluesky_video import GET_JOB_STATUS, GET_UPLOAD_LIMITS, UPLOAD_VIDEO, Allowance
from tests.fakes.http_server import Answer

VIDEO = media_file(MP4, "video/mp4", width=640, height=360, alt_text="A film")
GET_SERVICE_AUTH = "com.atproto.server.getServiceAuth"


def with_video(file: MediaFile = VIDEO, text: str = "Hello") -> Content:
    return Content("tgt_1", text, media=(file,))


def embed_of(pds: FakeBluesky, grant: Grant) -> dict[str, Any]:
    (record,) = pds.records(grant.external_id)
    embed: dict[str, Any] = record["value"]["embed"]
    return embed


def processing(bluesky: Bluesky, grant: Grant, content: Content) -> Progress:
    """The progress of a publication on Bluesky after the video was sent."""
    return step(bluesky, grant, content, step(bluesky, grant, content, START))


def test_a_video_is_sent_processed_and_embedded(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    content = with_video(text="")

    sending = step(bluesky, grant, content, START)
    assert (sending.phase, pds.video.jobs) == ("upload", 0)
    progress = step(bluesky, grant, content, sending)
    assert (progress.phase, pds.video.jobs, pds.blobs(grant.external_id)) == ("process", 1, [])
    assert progress.ready_at is not None
    assert progress.ready_at > datetime.now(UTC)
    progress = step(bluesky, grant, content, progress)
    assert (progress.phase, pds.blobs(grant.external_id)) == ("process", [])
    ready = step(bluesky, grant, content, progress)
    assert (ready.phase, ready.ready_at) == ("freeze", None)
    put(bluesky, grant, prepare(bluesky, grant, content, ready))

    (blob,) = pds.blobs(grant.external_id)
    assert (blob.data, blob.mime_type) == (MP4, "video/mp4")
    assert embed_of(pds, grant) == {
        "$type": "app.bsky.embed.video",
        "video": blob.reference(),
        "alt": "A film",
        "aspectRatio": {"width": 640, "height": 360},
    }
    assert pds.records(grant.external_id)[0]["value"]["text"] == ""
    assert pds.requests_to(UPLOAD_BLOB) == 0


def test_no_token_of_the_account_reaches_the_video_service(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    prepare(bluesky, grant, with_video())

    sent = [request.headers.get("authorization", "") for request in pds.video.requests]
    assert all(grant.tokens["access"] not in header for header in sent)
    assert sum(bool(header) for header in sent) == 2  # to ask for the limits, and to send


def test_a_missing_size_and_alt_text_are_omitted(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    put(bluesky, grant, prepare(bluesky, grant, with_video(media_file(MP4, "video/mp4"))))

    assert set(embed_of(pds, grant)) == {"$type", "video"}


def test_a_video_larger_than_a_servers_limit_for_files_is_streamed_to_the_video_service(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, tmp_path: Any
) -> None:
    stored = tmp_path / "film.mp4"
    stored.write_bytes(MP4 + bytes(6_000_000))
    film = replace(VIDEO, size_bytes=stored.stat().st_size, open=lambda: stored.open("rb"))

    put(bluesky, grant, prepare(bluesky, grant, with_video(film)))

    (blob,) = pds.blobs(grant.external_id)
    assert blob.data == stored.read_bytes()


def test_a_video_that_the_service_has_already_is_not_processed_again(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant
) -> None:
    prepare(bluesky, grant, with_video())

    ready = processing(bluesky, grant, with_video(text="Again"))

    assert (ready.phase, pds.video.jobs) == ("freeze", 1)
    put(bluesky, grant, prepare(bluesky, grant, with_video(text="Again"), ready))
    assert embed_of(pds, grant)["video"] == pds.blobs(grant.external_id)[0].reference()


@pytest.mark.parametrize("call", [GET_UPLOAD_LIMITS, UPLOAD_VIDEO, GET_JOB_STATUS])
@pytest.mark.parametrize("fault", ["drop", "drop after", 500, 503, 429, 401])
def test_a_temporary_error_of_the_service_postpones_the_step_and_the_video_is_sent_once(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, call: str, fault: Any
) -> None:
    content = with_video()
    sending = step(bluesky, grant, content, START)
    if call == GET_JOB_STATUS:
        sending = step(bluesky, grant, content, sending)
    if isinstance(fault, str):
        pds.video.drop_next(call, after_accept=fault == "drop after")
    elif fault in (429, 401):
        pds.video.refuse_next(call, Answer.of_json({"error": "No"}, fault, {"Retry-After": "9"}))
    else:
        pds.video.fail_next(call, status=fault, after_accept=True)

    with pytest.raises(Transient) as caught:
        step(bluesky, grant, content, sending)
    put(bluesky, grant, prepare(bluesky, grant, content, sending))

    assert not isinstance(caught.value, RateLimited)  # which would hold back the account's other posts
    assert caught.value.retry_after == (9.0 if fault in (429, 401) else None)
    assert (pds.video.jobs, pds.writes) == (1, 1)


def test_an_expired_session_is_reported_before_the_video_is_sent(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    sending = step(bluesky, grant, with_video(), START)
    pds.expire_access_tokens()

    with pytest.raises(TokenExpired):
        step(bluesky, grant, with_video(), sending)

    renewed = bluesky.refresh_grant(grant)
    put(bluesky, renewed, prepare(bluesky, renewed, with_video(), sending))
    assert (pds.video.jobs, pds.requests_to(GET_SERVICE_AUTH)) == (1, 3)


@pytest.mark.parametrize(
    ("allowance", "words"),
    [
        (Allowance(refusal="Confirm your email address to upload videos"), "Confirm your email address"),
        (Allowance(videos=0), "User has exceeded daily upload videos limit"),
        (Allowance(bytes=100), "The account's daily allowance is used up."),
    ],
)
def test_a_video_that_the_account_may_not_upload_now_is_refused_before_it_is_sent(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, allowance: Allowance, words: str
) -> None:
    pds.video.allowances[grant.external_id] = allowance

    with pytest.raises(ContentRejected, match=words) as caught:
        prepare(bluesky, grant, with_video())

    assert "e-mail address" in caught.value.suggested_action
    assert (pds.video.requests_to(UPLOAD_VIDEO), pds.writes) == (0, 0)


@pytest.mark.parametrize("status", [400, 403, 413, 415])
def test_the_services_refusal_of_a_video_is_passed_on(bluesky: Bluesky, pds: FakeBluesky, grant: Grant, status: int) -> None:
    pds.video.refuse_next(UPLOAD_VIDEO, Answer.of_json({"error": "No", "message": "Not this one"}, status))

    with pytest.raises(ContentRejected, match="Not this one"):
        prepare(bluesky, grant, with_video())


@pytest.mark.parametrize("code", ["validation_failure", "encoding_failure", "pds_upload_unsupported_blob_size", "new"])
def test_a_video_that_cannot_be_processed_is_refused(bluesky: Bluesky, pds: FakeBluesky, grant: Grant, code: str) -> None:
    pds.video.failures = [code]

    with pytest.raises(ContentRejected, match="Bluesky could not process the video: It did not work"):
        prepare(bluesky, grant, with_video())

    assert (pds.video.jobs, pds.writes) == (1, 0)


@pytest.mark.parametrize("code", ["pds_upload_failure", "generic_failure"])
def test_a_job_at_which_the_service_failed_is_repeated(bluesky: Bluesky, pds: FakeBluesky, grant: Grant, code: str) -> None:
    pds.video.failures = [code] * (MAX_VIDEO_JOBS - 1)

    put(bluesky, grant, prepare(bluesky, grant, with_video()))

    assert (pds.video.jobs, pds.writes) == (MAX_VIDEO_JOBS, 1)


def test_a_video_is_rejected_after_the_last_failed_job(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    pds.video.failures = ["generic_failure"] * 10

    with pytest.raises(ContentRejected) as caught:
        prepare(bluesky, grant, with_video())

    assert caught.value.suggested_action == "Retry the post later."
    assert (pds.video.jobs, pds.writes) == (MAX_VIDEO_JOBS, 0)


def test_a_job_that_the_service_has_deleted_is_repeated(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    progress = processing(bluesky, grant, with_video())
    pds.video.delete_jobs()

    again = step(bluesky, grant, with_video(), progress)

    assert (again.phase, again.ready_at is not None) == ("upload", True)
    put(bluesky, grant, prepare(bluesky, grant, with_video(), again))
    assert pds.writes == 1


def test_a_job_that_never_ends_is_checked_a_limited_number_of_times(bluesky: Bluesky, pds: FakeBluesky, grant: Grant) -> None:
    pds.video.checks = 10**6
    progress = processing(bluesky, grant, with_video())

    def check_again_and_again() -> None:
        nonlocal progress
        while True:
            progress = step(bluesky, grant, with_video(), progress)

    with pytest.raises(Transient):
        check_again_and_again()
    assert pds.video.requests_to(GET_JOB_STATUS) == MAX_CHECKS


def test_a_video_is_uploaded_to_the_server_after_the_service_failed_three_times(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant
) -> None:
    pds.video.fail_next(UPLOAD_VIDEO, times=3)
    sending = step(bluesky, grant, with_video(), START)
    for attempt in (1, 2, 3):
        with pytest.raises(Transient):
            step(bluesky, grant, replace(with_video(), attempt=attempt), sending)

    put(bluesky, grant, prepare(bluesky, grant, replace(with_video(), attempt=4), sending))

    assert (pds.video.jobs, pds.requests_to(UPLOAD_BLOB), pds.writes) == (0, 1, 1)


@pytest.mark.parametrize("rows", [True, False], ids=["refused", "server error"])
def test_a_video_that_the_server_lost_is_uploaded_to_the_server(
    bluesky: Bluesky, pds: FakeBluesky, grant: Grant, rows: bool
) -> None:
    frozen = prepare(bluesky, grant, with_video())
    pds.collect_blobs(rows=rows)

    again = step(bluesky, grant, with_video(), frozen)
    put(bluesky, grant, prepare(bluesky, grant, with_video(), again))

    assert (pds.video.jobs, pds.requests_to(UPLOAD_BLOB), pds.writes) == (1, 1, 1)


@pytest.mark.parametrize(
    ("call", "answer", "fault"),
    [
        (GET_SERVICE_AUTH, Answer.of_json({}), Transient),
        (GET_SERVICE_AUTH, Answer.of_json({"token": "two\r\nlines"}), Transient),
        (UPLOAD_VIDEO, Answer(200, b"<html>"), Transient),
        (UPLOAD_VIDEO, Answer.of_json({"jobStatus": []}), Transient),
        (UPLOAD_VIDEO, Answer.of_json({"jobId": 7}), Transient),
        (UPLOAD_VIDEO, Answer.of_json({"jobId": "x" * 300}), Transient),
        (UPLOAD_VIDEO, Answer.of_json({"error": "already_exists"}, 409), Transient),
        (GET_JOB_STATUS, Answer(200, b"<html>"), Transient),
        (GET_JOB_STATUS, Answer(302, b"", {"Location": "http://127.0.0.1:1/"}), Transient),
    ],
)
def test_unreadable_responses_publish_nothing(
    bluesky: Bluesky, scripted: ScriptedServer, settings: Any, call: str, answer: Answer, fault: type[PlatformError]
) -> None:
    scripted.answers = {
        GET_SERVICE_AUTH: Answer.of_json({"token": "service"}),
        GET_UPLOAD_LIMITS: Answer.of_json({"canUpload": True}),
        UPLOAD_VIDEO: Answer.of_json({"jobId": "job-1", "state": "JOB_STATE_CREATED"}),
        call: answer,
    }
    settings.PLATFORM_SETTINGS = {"BLUESKY_VIDEO_API_BASE": scripted.url}
    grant = Grant(tokens={"access": "access", "refresh": "refresh", "pds": scripted.url}, external_id=DID)

    with pytest.raises(PlatformError) as caught:
        prepare(bluesky, grant, with_video())

    assert type(caught.value) is fault
