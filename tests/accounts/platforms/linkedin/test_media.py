"""Uploads that fail, take long, or are lost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.platforms.errors import (
    AccountDisconnected,
    ContentRejected,
    PlatformError,
    RateLimited,
    TokenExpired,
    Transient,
)
from accounts.platforms.linkedin.adapter import LinkedIn
from accounts.platforms.linkedin.media import MAX_LOOKS
from accounts.platforms.types import Grant, Progress
from tests.accounts.platforms.linkedin.scripted_server import ScriptedServer
from tests.accounts.platforms.linkedin.steps import MEMBER, PAGE, error, go_to, post, publish, step
from tests.accounts.platforms.media_files import MP4, media_file, picture
from tests.fakes.http_server import Answer
from tests.fakes.linkedin import FakeLinkedIn
from tests.fakes.linkedin_methods import CREATE, FINALIZE, INITIALIZE, PUT, STATUS

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PHOTO, VIDEO = media_file(picture()), media_file(MP4, "video/mp4")


def test_processing_is_waited_for_with_growing_pauses(linkedin: LinkedIn, server: FakeLinkedIn, page: Grant) -> None:
    server.process_media(looks=6)
    content, pauses = post("Look", VIDEO), []
    with time_machine.travel(NOW, tick=False):
        progress = go_to("process", linkedin, page, content)
        while progress.phase == "process":
            following = step(linkedin, page, content, progress)
            assert isinstance(following, Progress)
            progress = following
            pauses.append((progress.ready_at - NOW).total_seconds() if progress.ready_at else 0)

    assert pauses == [2, 4, 8, 16, 30, 30, 0]
    assert len(publish(linkedin, page, content, progress).external_id) > 0


def test_what_a_member_uploaded_may_not_be_looked_at_and_is_waited_for_once(
    linkedin: LinkedIn, server: FakeLinkedIn, member: Grant
) -> None:
    content = post("Look", VIDEO)
    with time_machine.travel(NOW, tick=False):
        waiting = step(linkedin, member, content, go_to("process", linkedin, member, content))

    assert isinstance(waiting, Progress)
    assert (waiting.phase, waiting.ready_at) == ("process", NOW + timedelta(seconds=60))
    publish(linkedin, member, content, waiting)
    assert [made["media"] for made in server.posts(MEMBER)] == [[MP4]]


def test_media_that_cannot_be_processed_are_rejected(linkedin: LinkedIn, server: FakeLinkedIn, page: Grant) -> None:
    server.process_media(looks=1, failure="The codec is not supported")

    with pytest.raises(ContentRejected) as caught:
        publish(linkedin, page, post("Look", VIDEO))

    assert caught.value.message == "LinkedIn could not process file.mp4: The codec is not supported"
    assert server.requests_to(CREATE) == 0


@pytest.mark.parametrize(("status", "logged"), [("PROCESSING", 0), ("A_NEW_STATUS", 1)])
def test_processing_is_not_waited_for_without_end(
    linkedin: LinkedIn,
    scripted: ScriptedServer,
    scripted_grant: Grant,
    caplog: pytest.LogCaptureFixture,
    status: str,
    logged: int,
) -> None:
    scripted.answers[STATUS["images"]] = Answer.of_json({"status": status})
    state = {"media": [], "pending": "urn:li:image:a", "looks": MAX_LOOKS}

    with pytest.raises(Transient, match="not finished"):
        step(linkedin, scripted_grant, post("", PHOTO), Progress("process", state))

    assert len(caplog.records) == logged


def test_media_that_linkedin_has_lost_are_uploaded_once_more(
    linkedin: LinkedIn, server: FakeLinkedIn, page: Grant
) -> None:
    content = post("Look", PHOTO, media_file(picture(colour="red")))
    for phase in ("process", "create"):
        progress = go_to(phase, linkedin, page, content)
        server.forget_media()

        publish(linkedin, page, content, progress)

    assert [len(made["media"]) for made in server.posts(PAGE)] == [2, 2]


def test_media_that_are_lost_again_end_it(linkedin: LinkedIn, server: FakeLinkedIn, page: Grant) -> None:
    content = post("Look", PHOTO)
    progress = go_to("create", linkedin, page, content)
    server.forget_media()
    following = step(linkedin, page, content, progress)
    assert isinstance(following, Progress)
    progress = go_to("create", linkedin, page, content, following)
    server.forget_media()

    with pytest.raises(ContentRejected, match="Media asset"):
        step(linkedin, page, content, progress)


REFUSED_UPLOADS = [
    (error(503), Transient),
    (error(429), RateLimited),
    (error(401), TokenExpired),
    (error(403, "Accessing this video resource is forbidden. Please check your permissions"), AccountDisconnected),
    (error(400, "The video is odd"), ContentRejected),
]


@pytest.mark.parametrize(
    ("call", "answer", "fault"),
    [
        *((call, *refused) for call in (INITIALIZE["videos"], PUT, FINALIZE) for refused in REFUSED_UPLOADS),
        *((call, Answer(200, b"<html>"), Transient) for call in (INITIALIZE["videos"], PUT)),
    ],
)
def test_an_upload_that_fails_is_told_by_what_helps_and_can_be_repeated(
    linkedin: LinkedIn, server: FakeLinkedIn, page: Grant, call: str, answer: Answer, fault: type[PlatformError]
) -> None:
    content = post("Look", VIDEO)
    server.refuse_next(call, answer, times=3)

    with pytest.raises(PlatformError) as caught:
        publish(linkedin, page, content)

    assert type(caught.value) is fault
    server.forget_faults()
    publish(linkedin, page, content)
    assert [made["media"] for made in server.posts(PAGE)] == [[MP4]]


@pytest.mark.parametrize(
    "address", ["https://evil.example/x", "http://www.linkedin.com/x", "https://linkedin.com.evil.example/x", 7]
)
def test_neither_token_nor_file_goes_to_anybody_else(
    linkedin: LinkedIn, scripted: ScriptedServer, scripted_grant: Grant, address: object
) -> None:
    value = {"value": {"uploadUrl": address, "image": "urn:li:image:a"}}
    scripted.answers[INITIALIZE["images"]] = Answer.of_json(value)

    with pytest.raises(Transient):
        publish(linkedin, scripted_grant, post("", PHOTO))

    assert scripted.asked == [INITIALIZE["images"]]


@pytest.mark.parametrize(
    "parts", [[], [{"firstByte": 1}], [{"firstByte": 0, "lastByte": 5}], [{"firstByte": 0, "lastByte": "x"}], "x"]
)
def test_parts_that_are_not_the_whole_video_are_not_sent(
    linkedin: LinkedIn, scripted: ScriptedServer, scripted_grant: Grant, parts: object
) -> None:
    value = {"video": "urn:li:video:a", "uploadToken": "", "uploadInstructions": parts}
    scripted.answers[INITIALIZE["videos"]] = Answer.of_json({"value": value})

    with pytest.raises(Transient):
        publish(linkedin, scripted_grant, post("", VIDEO))

    assert scripted.asked == [INITIALIZE["videos"]]


def test_nothing_of_an_upload_is_kept_but_its_name(linkedin: LinkedIn, server: FakeLinkedIn, page: Grant) -> None:
    progress = go_to("process", linkedin, page, post("Look", VIDEO))

    assert set(progress.state) == {"media", "pending", "looks"}
    assert "/dms-uploads/" not in str(progress.state)
    assert "token" not in str(progress.state)
