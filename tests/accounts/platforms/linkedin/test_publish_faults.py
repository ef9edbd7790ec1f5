from __future__ import annotations

from datetime import UTC, datetime

import pytest
import time_machine

from accounts.platforms.errors import (
    ConnectionUnavailable,
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    RateLimited,
    ReauthRequired,
    TokenExpired,
    Transient,
)
from accounts.platforms.types import Progress, Published
from tests.accounts.platforms.adapter_steps import Account
from tests.accounts.platforms.linkedin.scripted_server import MADE, ScriptedServer
from tests.accounts.platforms.linkedin.steps import PAGE, error, post
from tests.fakes.http_server import Answer
from tests.fakes.linkedin import FakeLinkedIn
from tests.fakes.linkedin_methods import COMMENT, CREATE

SIX_IN_THE_EVENING = datetime(2026, 11, 20, 18, 0, tzinfo=UTC)
BEGUN = Progress("create", {"media": []})
OUT = Progress("comment", published=Published(MADE, f"https://www.linkedin.com/feed/update/{MADE}/"))


@pytest.mark.parametrize("arrived", [True, False])
def test_the_outcome_of_a_comment_without_an_answer_is_unknown(server: FakeLinkedIn, page: Account, arrived: bool) -> None:
    content = post(first_comment="First!")
    progress = page.go_to("comment", content)
    server.drop_next(COMMENT, after_accept=arrived)

    with pytest.raises(OutcomeUnknown):
        page.step(content, progress)

    assert [len(made["comments"]) for made in server.posts(PAGE)] == [int(arrived)]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(999, b"Request denied"),
        Answer(201, b""),
        Answer(200, b"<html>Welcome</html>", {"x-restli-id": "7"}),
        Answer(201, b"", {"x-restli-id": "urn:li:share:../7"}),
    ],
)
def test_the_outcome_is_unknown_if_the_response_names_no_post(
    scripted: ScriptedServer, scripted_page: Account, answer: Answer
) -> None:
    scripted.answers[CREATE] = answer

    with pytest.raises(OutcomeUnknown):
        scripted_page.step(post(), BEGUN)


@pytest.mark.parametrize(
    ("answer", "expected", "documented"),
    [
        (error(401, "expired", "EXPIRED_ACCESS_TOKEN", serviceErrorCode=65602), TokenExpired, True),
        (error(403, "Not enough permissions to access: posts.CREATE", "ACCESS_DENIED"), ReauthRequired, True),
        (error(403, "Accessing this resource is forbidden."), ReauthRequired, True),
        (error(403, "Come back on Monday", "NEW_RULE"), Transient, False),
        (Answer(403, b"<html>Blocked by permission</html>"), Transient, False),
        (error(426, "Requested version 202501 is not active", "NONEXISTENT_VERSION"), ConnectionUnavailable, True),
        (error(400, "Requested version 20250101 is not active", "NONEXISTENT_VERSION"), ConnectionUnavailable, True),
        (error(400, "ERROR :: /commentary :: is odd", serviceErrorCode=100), ContentRejected, True),
        (error(422, "is odd", "NEW_RULE"), ContentRejected, False),
        (Answer(400, b"<html>"), Transient, False),
        (error(404, "No virtual resource found", "RESOURCE_NOT_FOUND"), Transient, False),
    ],
)
def test_documented_errors_are_translated_and_others_are_reported_without_their_text(
    scripted: ScriptedServer,
    scripted_page: Account,
    caplog: pytest.LogCaptureFixture,
    answer: Answer,
    expected: type[PlatformError],
    documented: bool,
) -> None:
    scripted.answers[CREATE] = answer

    with pytest.raises(PlatformError) as caught:
        scripted_page.step(post(), BEGUN)

    assert type(caught.value) is expected
    assert [record.levelname for record in caplog.records] == ([] if documented else ["WARNING"])
    assert "odd" not in caplog.text
    assert "Monday" not in caplog.text


def test_a_duplicate_is_rejected_with_linkedins_reason(server: FakeLinkedIn, page: Account) -> None:
    first = page.publish(post("Hello"))

    with pytest.raises(ContentRejected) as caught:
        page.publish(post("Hello"))

    assert caught.value.message == f"LinkedIn does not accept the post: Content is a duplicate of {first.external_id}"
    assert len(server.posts(PAGE)) == 1


@pytest.mark.parametrize(
    ("message", "headers", "seconds"),
    [
        ("Resource level throttle MEMBER DAY limit for calls to this resource is reached.", {}, 6 * 3600.0),
        ("Resource level throttle MEMBER DAY limit is reached.", {"Retry-After": "60"}, 60.0),
        ("Throttled today", {}, None),
    ],
)
def test_daily_quotas_are_reset_at_midnight_utc(
    scripted: ScriptedServer, scripted_page: Account, message: str, headers: dict[str, str], seconds: float | None
) -> None:
    scripted.answers[CREATE] = Answer.of_json({"message": message, "status": 429}, 429, headers)

    with time_machine.travel(SIX_IN_THE_EVENING, tick=False), pytest.raises(RateLimited) as caught:
        scripted_page.step(post(), BEGUN)

    assert caught.value.retry_after == seconds


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (error(503), OutcomeUnknown),
        (error(404, "Could not find entity"), Transient),
        (error(403, "Not enough permissions to access: socialActions.CREATE", "ACCESS_DENIED"), ContentRejected),
        (error(400, "is odd"), ContentRejected),
        (error(401), TokenExpired),
    ],
)
def test_a_rejected_comment_does_not_disconnect_the_account(
    scripted: ScriptedServer, scripted_page: Account, answer: Answer, expected: type[PlatformError]
) -> None:
    scripted.answers[COMMENT] = answer

    with pytest.raises(PlatformError) as caught:
        scripted_page.step(post(first_comment="First!"), OUT)

    assert type(caught.value) is expected
    assert scripted.asked == [COMMENT]
