"""Uploads to LinkedIn that fail, take long, or are lost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.platforms.errors import (
    ContentRejected,
    PlatformError,
    RateLimited,
    ReauthRequired,
    TokenExpired,
    Transient,
)
from accounts.platforms.linkedin.media import MAX_CHECKS
from accounts.platforms.types import Progress
from tests.accounts.platforms.adapter_steps import Account
from tests.accounts.platforms.linkedin.scripted_server import ScriptedServer
from tests.accounts.platforms.linkedin.steps import MEMBER, PAGE, error, post
from tests.accounts.platforms.media_files import MP4, media_file, picture
from tests.fakes.http_server import Answer
from tests.fakes.linkedin import FakeLinkedIn
from tests.fakes.linkedin_methods import CREATE, FINALIZE, INITIALIZE, PUT, STATUS

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PHOTO, VIDEO = media_file(picture()), media_file(MP4, "video/mp4")


def test_processing_is_checked_with_growing_pauses(server: FakeLinkedIn, page: Account) -> None:
    server.process_media(checks=6)
    content, pauses = post("Look", VIDEO), []
    with time_machine.travel(NOW, tick=False):
        progress = page.go_to("process", content)
        while progress.phase == "process":
            following = page.step(content, progress)
            assert isinstance(following, Progress)
            progress = following
            pauses.append((progress.ready_at - NOW).total_seconds() if progress.ready_at else 0)

    assert pauses == [2, 4, 8, 16, 30, 30, 0]
    assert len(page.publish(content, progress).external_id) > 0


def test_an_upload_whose_status_is_forbidden_is_used_after_one_pause(server: FakeLinkedIn, member: Account) -> None:
    content = post("Look", VIDEO)
    with time_machine.travel(NOW, tick=False):
        waiting = member.step(content, member.go_to("process", content))

    assert isinstance(waiting, Progress)
    assert (waiting.phase, waiting.ready_at) == ("process", NOW + timedelta(seconds=60))
    member.publish(content, waiting)
    assert [made["media"] for made in server.posts(MEMBER)] == [[MP4]]


def test_media_that_cannot_be_processed_are_rejected(server: FakeLinkedIn, page: Account) -> None:
    server.process_media(checks=1, failure="The codec is not supported")

    with pytest.raises(ContentRejected) as caught:
        page.publish(post("Look", VIDEO))

    assert caught.value.message == "LinkedIn could not process file.mp4: The codec is not supported"
    assert server.requests_to(CREATE) == 0


@pytest.mark.parametrize(("status", "logged"), [("PROCESSING", 0), ("A_NEW_STATUS", 1)])
def test_processing_that_never_finishes_fails(
    scripted: ScriptedServer, scripted_page: Account, caplog: pytest.LogCaptureFixture, status: str, logged: int
) -> None:
    scripted.answers[STATUS["images"]] = Answer.of_json({"status": status})
    state = {"media": [], "pending": "urn:li:image:a", "looks": MAX_CHECKS}

    with pytest.raises(Transient, match="not finished"):
        scripted_page.step(post("", PHOTO), Progress("process", state))

    assert len(caplog.records) == logged


def test_lost_media_are_uploaded_again_once(server: FakeLinkedIn, page: Account) -> None:
    content = post("Look", PHOTO, media_file(picture(colour="red")))
    for phase in ("process", "create"):
        progress = page.go_to(phase, content)
        server.forget_media()

        page.publish(content, progress)

    assert [len(made["media"]) for made in server.posts(PAGE)] == [2, 2]


def test_media_that_are_lost_twice_fail_the_post(server: FakeLinkedIn, page: Account) -> None:
    content = post("Look", PHOTO)
    progress = page.go_to("create", content)
    server.forget_media()
    following = page.step(content, progress)
    assert isinstance(following, Progress)
    progress = page.go_to("create", content, following)
    server.forget_media()

    with pytest.raises(ContentRejected, match="Media asset"):
        page.step(content, progress)


REFUSED_UPLOADS = [
    (error(503), Transient),
    (error(429), RateLimited),
    (error(401), TokenExpired),
    (error(403, "Accessing this video resource is forbidden. Please check your permissions"), ReauthRequired),
    (error(400, "The video is odd"), ContentRejected),
]


@pytest.mark.parametrize(
    ("call", "answer", "fault"),
    [
        *((call, *refused) for call in (INITIALIZE["videos"], PUT, FINALIZE) for refused in REFUSED_UPLOADS),
        *((call, Answer(200, b"<html>"), Transient) for call in (INITIALIZE["videos"], PUT)),
    ],
)
def test_a_failed_upload_can_be_repeated(
    server: FakeLinkedIn, page: Account, call: str, answer: Answer, fault: type[PlatformError]
) -> None:
    content = post("Look", VIDEO)
    server.refuse_next(call, answer, times=3)

    with pytest.raises(PlatformError) as caught:
        page.publish(content)

    assert type(caught.value) is fault
    server.forget_faults()
    page.publish(content)
    assert [made["media"] for made in server.posts(PAGE)] == [[MP4]]


@pytest.mark.parametrize(
    "address", ["", "https://evil.example/x", "http://www.linkedin.com/x", "https://linkedin.com.evil.example/x", 7]
)
def test_neither_token_nor_file_goes_to_another_host(
    scripted: ScriptedServer, scripted_page: Account, address: object
) -> None:
    with ScriptedServer() as other:
        value = {"value": {"uploadUrl": address or f"{other.url}/x", "image": "urn:li:image:a"}}
        scripted.answers[INITIALIZE["images"]] = Answer.of_json(value)
        with pytest.raises(Transient):
            scripted_page.publish(post("", PHOTO))

    assert (scripted.asked, other.asked) == ([INITIALIZE["images"]], [])


@pytest.mark.parametrize(
    "parts", [[], [{"firstByte": 1}], [{"firstByte": 0, "lastByte": 5}], [{"firstByte": 0, "lastByte": "x"}], "x"]
)
def test_parts_that_are_not_the_whole_video_are_not_sent(
    scripted: ScriptedServer, scripted_page: Account, parts: object
) -> None:
    value = {"video": "urn:li:video:a", "uploadToken": "", "uploadInstructions": parts}
    scripted.answers[INITIALIZE["videos"]] = Answer.of_json({"value": value})

    with pytest.raises(Transient):
        scripted_page.publish(post("", VIDEO))

    assert scripted.asked == [INITIALIZE["videos"]]


def test_the_state_of_an_upload_has_only_its_urn(server: FakeLinkedIn, page: Account) -> None:
    progress = page.go_to("process", post("Look", VIDEO))

    assert set(progress.state) == {"media", "pending", "looks"}
    assert "/dms-uploads/" not in str(progress.state)
    assert "token" not in str(progress.state)
