"""Finding a TikTok video after a lost response: the publish id's status says whether the last chunk has arrived."""

from __future__ import annotations

import pytest

from accounts.platforms.errors import OutcomeUnknown, PlatformError, RateLimited, TokenExpired, Transient
from accounts.platforms.types import Content, Progress
from tests.accounts.platforms.adapter_steps import Account
from tests.accounts.platforms.tiktok.content import data, post, refused, video
from tests.fakes.http_server import Answer
from tests.fakes.tiktok import LAST, STATUS, FakeTikTok


def without_answer(server: FakeTikTok, account: Account, content: Content) -> Progress:
    """The progress of an upload whose last chunk got no response."""
    progress = account.go_to("finish", content)
    server.drop_next(LAST)
    with pytest.raises(OutcomeUnknown):
        account.step(content, progress)
    return progress


@pytest.mark.parametrize("checks", [0, 3])
@pytest.mark.parametrize("size", [0, 20])
def test_an_existing_video_is_found(server: FakeTikTok, account: Account, size: int, checks: int) -> None:
    server.process_posts(checks)
    content = post("Look", video(size))
    progress = without_answer(server, account, content)

    found = account.find(content, progress)

    assert isinstance(found, Progress)
    made = account.publish(content, found)
    assert [shown["id"] for shown in server.posts("alice")] == [made.external_id]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer(401), TokenExpired),
        (Answer(429), RateLimited),
        (Answer(503), Transient),
        (Answer(200, b"<html>"), Transient),
        (data(status="PROCESSING_UPLOAD"), OutcomeUnknown),
        (refused(400, "invalid_publish_id"), OutcomeUnknown),
    ],
)
def test_an_error_of_the_posts_status_is_translated(
    server: FakeTikTok, account: Account, answer: Answer, error: type[PlatformError]
) -> None:
    progress = without_answer(server, account, post())
    server.refuse_next(STATUS, answer)

    with pytest.raises(PlatformError) as caught:
        account.find(post(), progress)

    assert type(caught.value) is error
