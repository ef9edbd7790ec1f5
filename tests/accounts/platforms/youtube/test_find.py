"""Whether the last piece of an upload has arrived is asked of the upload itself."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.platforms.errors import OutcomeUnknown, PlatformError, RateLimited, TokenExpired, Transient
from accounts.platforms.types import Absent, Content, Grant, Progress
from accounts.platforms.youtube.adapter import YouTube
from tests.accounts.platforms.youtube.steps import bytes_of, connect, go_to, look, post, publish, step, video
from tests.fakes.http_server import Answer
from tests.fakes.youtube import ASK, LAST, FakeYouTube


def lose(youtube: YouTube, server: FakeYouTube, grant: Grant, content: Content, *, taken: bool = True) -> Progress:
    """The progress of an upload the answer to whose last piece never came."""
    progress = go_to("finish", youtube, grant, content)
    server.drop_next(LAST, after_accept=taken)
    with pytest.raises(OutcomeUnknown):
        step(youtube, grant, content, progress)
    return progress


@pytest.mark.parametrize("size", [0, 9])
def test_a_video_that_is_there_is_gone_on_with(youtube: YouTube, server: FakeYouTube, grant: Grant, size: int) -> None:
    content = post(file=video(size))
    progress = lose(youtube, server, grant, content)

    found = look(youtube, grant, content, progress)

    assert isinstance(found, Progress)
    made = publish(youtube, grant, content, found)
    assert [shown["id"] for shown in server.videos("alice")] == [made.external_id]


def test_a_video_that_is_not_there_waits_for_its_last_piece(
    youtube: YouTube, server: FakeYouTube, grant: Grant
) -> None:
    content = post(file=video(9))
    progress = lose(youtube, server, grant, content, taken=False)

    assert isinstance(look(youtube, grant, content, progress), Absent)
    publish(youtube, grant, content, progress)
    [shown] = server.videos("alice")
    assert shown["content"] == bytes_of(content.media[0])


def test_an_upload_that_is_forgotten_after_a_week_can_tell_nothing(youtube: YouTube, server: FakeYouTube) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        [connection] = connect(youtube, server)
        progress = lose(youtube, server, connection.grant, post())
        clock.shift(timedelta(days=8))
        grant = youtube.refresh(connection.grant)

        with pytest.raises(OutcomeUnknown) as caught:
            look(youtube, grant, post(), progress)

    assert caught.value.final
    assert "resolve" in caught.value.message


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer(401), TokenExpired),
        (Answer(429), RateLimited),
        (Answer(503), Transient),
        (Answer(201, b"[]"), Transient),
    ],
)
def test_a_look_that_fails_is_told_by_what_helps(
    youtube: YouTube, server: FakeYouTube, grant: Grant, answer: Answer, fault: type[PlatformError]
) -> None:
    progress = lose(youtube, server, grant, post())
    server.refuse_next(ASK, answer)

    with pytest.raises(PlatformError) as caught:
        look(youtube, grant, post(), progress)

    assert type(caught.value) is fault
