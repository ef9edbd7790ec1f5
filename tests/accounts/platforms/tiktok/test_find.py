"""Whether the last chunk of a video has arrived is asked by its publish id."""

from __future__ import annotations

import pytest

from accounts.platforms.errors import OutcomeUnknown, PlatformError, RateLimited, TokenExpired, Transient
from accounts.platforms.tiktok.adapter import TikTok
from accounts.platforms.types import Absent, Content, Grant, Progress
from tests.accounts.platforms.tiktok.steps import bytes_of, go_to, look, post, publish, step, video
from tests.fakes.http_server import Answer
from tests.fakes.tiktok import LAST, STATUS, FakeTikTok


def lose(tiktok: TikTok, server: FakeTikTok, grant: Grant, content: Content, *, taken: bool = True) -> Progress:
    """The progress of an upload the answer to whose last chunk never came."""
    progress = go_to("finish", tiktok, grant, content)
    server.drop_next(LAST, after_accept=taken)
    with pytest.raises(OutcomeUnknown):
        step(tiktok, grant, content, progress)
    return progress


@pytest.mark.parametrize("looks", [0, 3])
@pytest.mark.parametrize("size", [0, 20])
def test_a_video_that_is_there_is_gone_on_with(
    tiktok: TikTok, server: FakeTikTok, grant: Grant, size: int, looks: int
) -> None:
    server.process_posts(looks)
    content = post("Look", video(size))
    progress = lose(tiktok, server, grant, content)

    found = look(tiktok, grant, content, progress)

    assert isinstance(found, Progress)
    made = publish(tiktok, grant, content, found)
    assert [shown["id"] for shown in server.posts("alice")] == [made.external_id]


def test_a_video_that_is_not_there_waits_for_its_last_chunk(tiktok: TikTok, server: FakeTikTok, grant: Grant) -> None:
    content = post("Look", video(20))
    progress = lose(tiktok, server, grant, content, taken=False)

    assert isinstance(look(tiktok, grant, content, progress), Absent)
    publish(tiktok, grant, content, progress)
    [shown] = server.posts("alice")
    assert shown["content"] == bytes_of(content.media[0])


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer(401), TokenExpired),
        (Answer(429), RateLimited),
        (Answer(503), Transient),
        (Answer(200, b"<html>"), Transient),
        (Answer.of_json({"data": {"status": "PROCESSING_UPLOAD"}, "error": {"code": "ok"}}), OutcomeUnknown),
        (Answer.of_json({"data": {}, "error": {"code": "invalid_publish_id"}}, 400), OutcomeUnknown),
    ],
)
def test_a_look_that_fails_is_told_by_what_helps(
    tiktok: TikTok, server: FakeTikTok, grant: Grant, answer: Answer, fault: type[PlatformError]
) -> None:
    progress = lose(tiktok, server, grant, post())
    server.refuse_next(STATUS, answer)

    with pytest.raises(PlatformError) as caught:
        look(tiktok, grant, post(), progress)

    assert type(caught.value) is fault
