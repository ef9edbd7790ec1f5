"""Finding a YouTube video after a lost response: the upload session says whether the last piece has arrived."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.platforms.errors import OutcomeUnknown, PlatformError, RateLimited, TokenExpired, Transient
from accounts.platforms.types import Absent, Content, Progress
from tests.accounts.platforms.adapter_steps import Account, bytes_of
from tests.accounts.platforms.youtube.content import google_error, post, video
from tests.fakes.http_server import Answer
from tests.fakes.youtube import ASK, LAST, FakeYouTube


def without_answer(server: FakeYouTube, account: Account, content: Content, *, arrived: bool = True) -> Progress:
    """The progress of an upload whose last piece got no response."""
    progress = account.go_to("finish", content)
    server.drop_next(LAST, after_accept=arrived)
    with pytest.raises(OutcomeUnknown):
        account.step(content, progress)
    return progress


@pytest.mark.parametrize("size", [0, 9])
def test_an_existing_video_is_found(server: FakeYouTube, account: Account, size: int) -> None:
    content = post(file=video(size))
    progress = without_answer(server, account, content)

    found = account.find(content, progress)

    assert isinstance(found, Progress)
    made = account.publish(content, found)
    assert [shown["id"] for shown in server.videos("alice")] == [made.external_id]


def test_a_missing_last_piece_is_sent_again(server: FakeYouTube, account: Account) -> None:
    content = post(file=video(9))
    progress = without_answer(server, account, content, arrived=False)

    assert isinstance(account.find(content, progress), Absent)
    account.publish(content, progress)
    [shown] = server.videos("alice")
    assert shown["content"] == bytes_of(content.media[0])


def test_the_outcome_of_a_forgotten_upload_stays_unknown(server: FakeYouTube, account: Account) -> None:
    progress = without_answer(server, account, post())

    with time_machine.travel(timezone.now() + timedelta(days=8), tick=False):
        account.grant = account.adapter.refresh(account.grant)
        with pytest.raises(OutcomeUnknown, match="resolve") as caught:
            account.find(post(), progress)

    assert caught.value.final


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer(401), TokenExpired),
        (Answer(429), RateLimited),
        (Answer(503), Transient),
        (Answer(201, b"[]"), Transient),
        (google_error(400, "invalidSomething"), OutcomeUnknown),
    ],
)
def test_an_error_of_the_upload_sessions_status_is_translated(
    server: FakeYouTube, account: Account, answer: Answer, error: type[PlatformError]
) -> None:
    progress = without_answer(server, account, post())
    server.refuse_next(ASK, answer)

    with pytest.raises(PlatformError) as caught:
        account.find(post(), progress)

    assert type(caught.value) is error
