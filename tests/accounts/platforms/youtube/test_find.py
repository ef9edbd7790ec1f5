"""Finding a YouTube video after a lost response: the upload session says whether the last piece has arrived."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.platforms.errors import OutcomeUnknown, PlatformError, RateLimited, TokenExpired, Transient
from accounts.platforms.types import Content, Progress
from tests.accounts.platforms.adapter_steps import Account
from tests.accounts.platforms.youtube.content import google_error, post
from tests.fakes.http_server import Answer
from tests.fakes.youtube import ASK, LAST, FakeYouTube


def without_answer(server: FakeYouTube, account: Account, content: Content) -> Progress:
    """The progress of an upload whose last piece got no response."""
    progress = account.go_to("finish", content)
    server.drop_next(LAST)
    with pytest.raises(OutcomeUnknown):
        account.step(content, progress)
    return progress


def test_the_outcome_of_a_forgotten_upload_stays_unknown(server: FakeYouTube, account: Account) -> None:
    progress = without_answer(server, account, post())

    with time_machine.travel(timezone.now() + timedelta(days=8), tick=False):
        account.grant = account.adapter.refresh_grant(account.grant)
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
