"""Uploads to Facebook that are cut, refused, deleted, or never processed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, Transient
from accounts.platforms.facebook.adapter import Facebook
from accounts.platforms.types import Grant, Progress
from tests.accounts.platforms.media_files import MP4, media_file, picture
from tests.accounts.platforms.meta.steps import error, follow, go_to, post, publish
from tests.fakes.facebook import FINISH_REEL, PHOTOS, START, START_REEL, TRANSFER, UPLOAD, FakeFacebook
from tests.fakes.http_server import Answer

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PHOTO = media_file(picture(), alt_text="A photo")
VIDEO = media_file(MP4 * 2, "video/mp4", duration_ms=10_000)
REEL = post("Look", VIDEO, post_type="reel")


@pytest.mark.parametrize(
    ("content", "call"),
    [
        (post("Look", PHOTO), PHOTOS),
        (post("Look", VIDEO), START),
        (post("Look", VIDEO), TRANSFER),
        (REEL, START_REEL),
        (REEL, UPLOAD),
    ],
)
@pytest.mark.parametrize("way", ["dropped", "failed"])
def test_a_failed_upload_is_repeated_and_publishes_nothing(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str, content: Any, call: str, way: str
) -> None:
    server.drop_next(call) if way == "dropped" else server.fail_next(call)
    reached: list[Progress] = []
    with pytest.raises(Transient):
        reached.extend(follow(facebook, grant, content))
    assert (server.posts(page_id), server.videos(page_id)) == ([], [])

    publish(facebook, grant, content, reached[-1])

    made = [*server.posts(page_id), *server.videos(page_id)]
    assert len(made) == 1
    shown = made[0].get("content") or made[0]["photos"][0][0]
    assert shown == (picture() if content.media[0] is PHOTO else MP4 * 2)


@pytest.mark.parametrize("content", [post("Look", VIDEO), REEL], ids=["video", "reel"])
def test_an_ended_session_is_opened_again_once(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str, content: Any
) -> None:
    progress = go_to("send", facebook, grant, content)
    gone = error(6000, "There was a problem uploading your video file.", 1363041)
    server.refuse_next(TRANSFER if content is not REEL else UPLOAD, gone)
    publish(facebook, grant, content, progress)
    assert len(server.videos(page_id)) == 1

    server.refuse_next(TRANSFER if content is not REEL else UPLOAD, gone, times=2)
    with pytest.raises(ContentRejected, match="problem uploading"):
        publish(facebook, grant, content)


def test_an_upload_goes_to_facebooks_own_hosts_only(facebook: Facebook, server: FakeFacebook, grant: Grant) -> None:
    server.refuse_next(START_REEL, Answer.of_json({"video_id": "7", "upload_url": "https://facebook.com.evil.example/"}))

    with pytest.raises(Transient):
        go_to("send", facebook, grant, REEL)


def test_uploads_that_facebook_has_deleted_are_repeated(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str
) -> None:
    content = post("Look", PHOTO)
    with time_machine.travel(NOW, tick=False) as clock:
        progress = go_to("create", facebook, grant, content)
        clock.shift(timedelta(hours=25))

        publish(facebook, grant, content, progress)

    [made] = server.posts(page_id)
    assert made["photos"] == [(picture(), "A photo")]
    assert server.requests_to(PHOTOS) == 2


def test_a_video_that_cannot_be_processed_is_rejected_with_the_reason(
    facebook: Facebook, server: FakeFacebook, grant: Grant
) -> None:
    server.process_videos(checks=1, fail=True)

    with pytest.raises(ContentRejected, match="could not process the video: The video file has a format"):
        publish(facebook, grant, REEL)


def test_waiting_for_a_video_ends(facebook: Facebook, server: FakeFacebook, grant: Grant) -> None:
    server.process_videos(checks=10_000)
    with time_machine.travel(NOW, tick=False):
        progress = go_to("settle", facebook, grant, REEL)
        assert progress.accepted
        checks: list[Progress] = []
        with pytest.raises(OutcomeUnknown) as caught:
            checks.extend(follow(facebook, grant, REEL, progress))

    assert caught.value.final
    assert 3600 < sum((each.ready_at - NOW).total_seconds() for each in checks if each.ready_at) < 7200
    assert server.requests_to(FINISH_REEL) == 1
