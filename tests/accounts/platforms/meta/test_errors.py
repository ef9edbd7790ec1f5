"""The meaning of Meta's error codes: those that all products share, and those of one product."""

from __future__ import annotations

from typing import Any

import pytest

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
from accounts.platforms.facebook.errors import ERRORS as FACEBOOK
from accounts.platforms.instagram.errors import ERRORS as INSTAGRAM
from accounts.platforms.meta.errors import GraphError, MetaErrorTranslator
from accounts.platforms.threads.errors import ERRORS as THREADS
from config.outbound import Response
from tests.accounts.platforms.meta.steps import error
from tests.fakes.http_server import Answer
from tests.fakes.meta import business_usage

PRODUCTS = (FACEBOOK, INSTAGRAM, THREADS)


def error_of(errors: MetaErrorTranslator, answer: Answer) -> PlatformError:
    """The error that a publishing call raises for this response."""
    with pytest.raises(PlatformError) as caught, errors.translating_publish_errors("this post"):
        raise GraphError(Response(answer.status, answer.headers, answer.body))
    return caught.value


@pytest.mark.parametrize("errors", PRODUCTS, ids=lambda errors: errors.name)
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (error(190, "Session has expired", 463, 401), TokenExpired),
        (error(190, "The user changed their password", 460), TokenExpired),
        (error(102, "Session key invalid"), TokenExpired),
        (error(200, "(#200) The permission must be granted", status=403), ReauthRequired),
        (error(10, "(#10) Permission denied", status=403), ReauthRequired),
        (error(3, "(#3) Application does not have the capability"), ConnectionUnavailable),
        (error(101, "Error validating application"), ConnectionUnavailable),
        (error(100, "Invalid appsecret_proof provided in the API argument"), ConnectionUnavailable),
        (error(4, "(#4) Application request limit reached"), RateLimited),
        (error(80001, "(#80001) There have been too many calls"), RateLimited),
        (error(368, "The action attempted has been deemed abusive"), ContentRejected),
        (error(100, "(#100) Param message is too long"), ContentRejected),
        (error(1, "An unknown error occurred"), OutcomeUnknown),
        (error(2, "Service temporarily unavailable", status=500), OutcomeUnknown),
        (error(100, "Try again", is_transient=True), OutcomeUnknown),
        (Answer.of_json({"debug_info": {"message": "Broken", "retriable": True}}, 400), OutcomeUnknown),
        (Answer.of_json({"error_message": "Invalid code", "code": 190}, 400), TokenExpired),
    ],
)
def test_a_code_that_all_products_share_has_the_same_meaning(
    errors: MetaErrorTranslator, answer: Answer, expected: type[PlatformError]
) -> None:
    raised = error_of(errors, answer)

    assert type(raised) is expected
    if expected is ConnectionUnavailable:
        assert "operator" in raised.suggested_action


@pytest.mark.parametrize(
    ("errors", "answer", "expected"),
    [
        (FACEBOOK, error(100, "Confirm your identity", 4854002), ReauthRequired),
        (FACEBOOK, error(100, "Links must direct to the profile", 1609008), ContentRejected),
        (FACEBOOK, error(100, "Posting too fast", 1390008), RateLimited),
        (INSTAGRAM, error(25, "The account is restricted", 2207050), ReauthRequired),
        (INSTAGRAM, error(4, "We restrict certain activity", 2207051), ContentRejected),
        (INSTAGRAM, error(-1, "Instagram server error", 2207001), OutcomeUnknown),
        (THREADS, error(9, subcode=2207042), RateLimited),
        (THREADS, error(1, subcode=2207051), ContentRejected),
        (THREADS, error(1, subcode=2207052), ContentRejected),
        (THREADS, error(1, subcode=4279013), ContentRejected),
    ],
)
def test_a_code_of_one_product_has_its_own_meaning(
    errors: MetaErrorTranslator, answer: Answer, expected: type[PlatformError]
) -> None:
    assert type(error_of(errors, answer)) is expected


def test_an_undocumented_code_is_reported_and_its_message_shown_without_tokens(caplog: pytest.LogCaptureFixture) -> None:
    raised = error_of(FACEBOOK, error(424242, "Odd\x00 thing with " + "k" * 200, 77))

    assert type(raised) is ContentRejected
    assert raised.message == "Facebook does not accept this post: Odd  thing with … (code 424242, 77)"
    [record] = caplog.records
    assert (record.name, record.levelname) == ("accounts.platforms", "WARNING")
    assert "code 424242, 77" in record.getMessage()


def test_the_message_for_people_comes_before_the_one_for_programs() -> None:
    raised = error_of(FACEBOOK, error(100, "Invalid parameter", 1609005, error_user_msg="The link cannot be read."))

    assert "this post: The link cannot be read" in raised.message


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        (business_usage("1", 19), 19 * 60.0),
        (business_usage("1", 10**9), 86_400.0),
        ({"Retry-After": "90"}, 90.0),
        ({"X-Business-Use-Case-Usage": "<html>"}, 300.0),
        ({"X-Business-Use-Case-Usage": '{"1": [{"estimated_time_to_regain_access": "soon"}]}'}, 300.0),
        ({}, 300.0),
    ],
)
def test_a_rate_limit_says_how_long_to_wait(headers: dict[str, str], seconds: float) -> None:
    limited = error(32, "(#32) Page request limit reached")

    raised: Any = error_of(FACEBOOK, Answer(400, limited.body, {**limited.headers, **headers}))

    assert (type(raised), raised.retry_after) == (RateLimited, seconds)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (error(100, "Unsupported get request", 33), Transient),
        (error(200, status=403), ReauthRequired),
        (error(987654), Transient),
    ],
)
def test_a_call_that_sends_no_content_is_never_rejected(answer: Answer, expected: type[PlatformError]) -> None:
    raised = FACEBOOK.translate_repeatable_call_error(GraphError(Response(answer.status, answer.headers, answer.body)))

    assert type(raised) is expected
