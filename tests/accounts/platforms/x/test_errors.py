"""X's own errors when a post is created."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.platforms.errors import ConnectionUnavailable, ContentRejected, PlatformError, RateLimited, ReauthRequired
from accounts.platforms.types import Grant
from tests.accounts.platforms.x.steps import post, publish
from tests.fakes.http_server import Answer
from tests.fakes.x import FakeX
from tests.fakes.x_methods import CREATE

PROBLEMS = "https://api.twitter.com/2/problems/"


def problem(status: int, detail: str = "no", kind: str = "", **more: Any) -> Answer:
    body = {"title": "Title", "detail": detail, "type": PROBLEMS + kind if kind else "about:blank", **more}
    return Answer.of_json(body, status)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (problem(403, "This user is not allowed to post a video longer than 2 minutes."), ContentRejected),
        (problem(403, "You may not reply to an account that is suspended."), ContentRejected),
        (problem(403, "Your account is suspended and is not permitted to access this."), ReauthRequired),
        (problem(403, "To protect you, this account is temporarily locked. Please log in."), ReauthRequired),
        (problem(403, "App-only is forbidden.", "unsupported-authentication"), ReauthRequired),
        (problem(403, "Enroll in a project.", "client-forbidden", reason="client-not-enrolled"), ConnectionUnavailable),
        (problem(402, "Your account has no credits.", "credits"), ConnectionUnavailable),
        (problem(429, "Usage cap exceeded: Monthly product cap", "usage-capped"), ConnectionUnavailable),
        (Answer.of_json({"errors": [{"code": 88, "message": "Rate limit exceeded"}]}, 429), RateLimited),
        (problem(400, "One or more parameters was invalid.", "invalid-request"), ContentRejected),
        (problem(404, "Could not find tweet", "resource-not-found"), ContentRejected),
    ],
)
def test_documented_errors_are_translated_and_not_reported_as_unknown(
    server: FakeX, grant: Grant, caplog: pytest.LogCaptureFixture, answer: Answer, expected: type[PlatformError]
) -> None:
    server.refuse_next(CREATE, answer)

    with pytest.raises(PlatformError) as caught:
        publish(grant, post())

    assert type(caught.value) is expected
    assert server.requests_to(CREATE) == 1
    assert not [record for record in caplog.records if record.name == "accounts.platforms"]
    if expected is ConnectionUnavailable:
        assert "operator" in caught.value.suggested_action


def test_the_message_about_a_parameter_is_shown(server: FakeX, grant: Grant) -> None:
    errors = [{"parameters": {"text": ["Hello"]}, "message": "The text is odd."}]
    server.refuse_next(CREATE, problem(400, "One or more parameters was invalid.", "invalid-request", errors=errors))

    with pytest.raises(ContentRejected) as caught:
        publish(grant, post())

    assert caught.value.message == "X does not accept this post: The text is odd."


@pytest.mark.parametrize("of_the_day", [False, True])
def test_the_exhausted_limit_names_the_waiting_time(server: FakeX, grant: Grant, of_the_day: bool) -> None:
    server.rate_limit_next(CREATE, 900, of_the_day=of_the_day)

    with pytest.raises(RateLimited) as caught:
        publish(grant, post())

    assert caught.value.retry_after == 900
