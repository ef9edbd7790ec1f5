from __future__ import annotations

import socket
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from pytest_django import Settings

from accounts.platforms.errors import (
    AccountDisconnected,
    ConnectionUnavailable,
    ContentRejected,
    OutcomeUnknown,
    PlatformError,
    RateLimited,
    TokenExpired,
    Transient,
)
from accounts.platforms.facebook.adapter import Facebook
from accounts.platforms.types import Grant, Progress
from tests.accounts.platforms.facebook.steps import error, go_to, post, publish, step
from tests.accounts.platforms.media_files import media_file, picture
from tests.fakes.facebook import (
    COMMENT,
    FEED,
    OBJECT,
    FakeFacebook,
)
from tests.fakes.http_server import Answer
from tests.fakes.meta import business_usage

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
BEGUN = Progress("create", {"since": NOW.isoformat(), "photos": []})


@pytest.mark.parametrize("taken", [True, False])
def test_a_broken_connection_leaves_the_outcome_open(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str, taken: bool
) -> None:
    progress = go_to("create", facebook, grant, post())
    server.drop_next(FEED, after_accept=taken)

    with pytest.raises(OutcomeUnknown) as caught:
        step(facebook, grant, post(), progress)

    assert not caught.value.final
    assert len(server.posts(page_id)) == int(taken)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(502, b"<html>"),
        Answer(504),
        Answer(200, b"<html>"),
        Answer(200, b"[]"),
        Answer.of_json({"success": True}),
        Answer.of_json({"id": "../7"}),
        error(1, "An unknown error occurred"),
        error(2, "Service temporarily unavailable", status=500),
        error(99999, "Try again", is_transient=True),
    ],
)
def test_an_answer_that_names_no_post_leaves_the_outcome_open(
    facebook: Facebook, server: FakeFacebook, grant: Grant, answer: Answer
) -> None:
    server.refuse_next(FEED, answer)

    with pytest.raises(OutcomeUnknown):
        step(facebook, grant, post(), BEGUN)

    assert server.requests_to(FEED) == 1


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (error(190, "Session has expired", 463, 401), TokenExpired),
        (error(190, "The user changed their password", 460), TokenExpired),
        (error(102, "Session key invalid"), TokenExpired),
        (error(200, "(#200) The permission pages_manage_posts must be granted", status=403), AccountDisconnected),
        (error(10, "(#10) Permission denied", status=403), AccountDisconnected),
        (error(100, "Confirm your identity", 4854002), AccountDisconnected),
        (error(3, "(#3) Application does not have the capability"), ConnectionUnavailable),
        (error(100, "Invalid appsecret_proof provided in the API argument"), ConnectionUnavailable),
        (error(4, "(#4) Application request limit reached"), RateLimited),
        (error(80001, "(#80001) There have been too many calls to this Page"), RateLimited),
        (error(368, "The action attempted has been deemed abusive"), ContentRejected),
        (error(100, "The post's links must direct to the person's profile", 1609008), ContentRejected),
        (error(100, "Posting too fast", 1390008), RateLimited),
        (error(100, "(#100) Param message is too long"), ContentRejected),
        (Answer(413, b"<html>"), ContentRejected),
        (Answer(403, b"<html>Blocked</html>"), Transient),
        (Answer(429), RateLimited),
    ],
)
def test_a_refusal_is_told_by_what_helps(
    facebook: Facebook, server: FakeFacebook, grant: Grant, answer: Answer, fault: type[PlatformError]
) -> None:
    server.refuse_next(FEED, answer)

    with pytest.raises(PlatformError) as caught:
        step(facebook, grant, post(), BEGUN)

    assert type(caught.value) is fault
    if fault is ConnectionUnavailable:
        assert "operator" in caught.value.suggested_action


def test_a_code_that_nobody_knows_keeps_facebooks_words_and_is_told_to_the_operator(
    facebook: Facebook, server: FakeFacebook, grant: Grant, caplog: pytest.LogCaptureFixture
) -> None:
    server.refuse_next(FEED, error(424242, "Odd\x00 thing with " + "k" * 200, 77))

    with pytest.raises(ContentRejected) as caught:
        step(facebook, grant, post("the text"), BEGUN)

    assert caught.value.message == "Facebook does not accept this post: Odd  thing with … (code 424242, 77)"
    [record] = caplog.records
    assert (record.name, record.levelname) == ("accounts.platforms", "WARNING")
    assert "code 424242, 77" in record.getMessage()
    assert "the text" not in caplog.text


def test_what_facebook_says_to_a_person_comes_before_what_it_says_to_a_program(
    facebook: Facebook, server: FakeFacebook, grant: Grant
) -> None:
    server.refuse_next(FEED, error(100, "Invalid parameter", 1609005, error_user_msg="The link cannot be read."))

    with pytest.raises(ContentRejected, match="this post: The link cannot be read"):
        step(facebook, grant, post(), BEGUN)


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
def test_the_limit_that_is_used_up_says_when_to_come_again(
    facebook: Facebook, server: FakeFacebook, grant: Grant, headers: dict[str, str], seconds: float
) -> None:
    refused = error(32, "(#32) Page request limit reached")
    server.refuse_next(FEED, Answer(400, refused.body, {**refused.headers, **headers}))

    with pytest.raises(RateLimited) as caught:
        step(facebook, grant, post(), BEGUN)

    assert caught.value.retry_after == seconds


def test_the_same_words_twice_in_a_row_are_refused(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str
) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        publish(facebook, grant, post("Hello"))
        clock.shift(timedelta(hours=1))

        with pytest.raises(ContentRejected, match="identical"):
            publish(facebook, grant, post("Hello"))

    assert len(server.posts(page_id)) == 1


@pytest.mark.parametrize("with_photo", [True, False])
def test_a_repetition_of_what_is_not_listed_leaves_the_outcome_open(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str, with_photo: bool
) -> None:
    content = replace(post("Hello", *[media_file(picture())] * with_photo), attempt=2)
    progress = go_to("create", facebook, grant, content)
    server.drop_next(FEED)
    server.lag_lists(3600)
    with pytest.raises(OutcomeUnknown):
        step(facebook, grant, content, progress)

    with pytest.raises(OutcomeUnknown) as caught:
        step(facebook, grant, content, progress)

    assert caught.value.final
    assert len(server.posts(page_id)) == 1


def test_a_repetition_that_is_refused_because_the_first_try_is_out_is_that_try(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str
) -> None:
    progress = go_to("create", facebook, grant, post("Hello"))
    first = step(facebook, grant, post("Hello"), progress)

    assert step(facebook, grant, post("Hello"), progress) == first
    assert len(server.posts(page_id)) == 1


def test_where_a_post_is_shown_is_no_reason_to_fail(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str
) -> None:
    server.fail_next(OBJECT, 500)

    published = publish(facebook, grant, post())

    assert published.permalink == f"https://www.facebook.com/{server.posts(page_id)[0]['id']}"


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (error(200, "(#200) pages_manage_engagement must be granted", status=403), ContentRejected),
        (error(100, "Invalid comment message"), ContentRejected),
        (error(32, "(#32) Page request limit reached"), RateLimited),
        (error(190, "Session has expired", 463, 401), TokenExpired),
        (error(1, "An unknown error occurred"), OutcomeUnknown),
        (Answer(502), OutcomeUnknown),
        (Answer(200, b"<html>"), OutcomeUnknown),
    ],
)
def test_a_first_comment_has_faults_of_its_own(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str, answer: Answer, fault: type[PlatformError]
) -> None:
    content = post("Hello", first_comment="More")
    progress = go_to("comment", facebook, grant, content)
    [made] = server.posts(page_id)
    assert progress.state["out"]["external_id"] == made["id"]
    server.refuse_next(COMMENT, answer)

    with pytest.raises(PlatformError) as caught:
        step(facebook, grant, content, progress)

    assert type(caught.value) is fault
    assert server.requests_to(FEED) == 1


def test_a_server_that_cannot_be_reached_took_nothing(
    facebook: Facebook, server: FakeFacebook, grant: Grant, settings: Settings
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        settings.PLATFORM_SETTINGS = {"FACEBOOK_API_BASE": f"http://127.0.0.1:{unused.getsockname()[1]}"}

        with pytest.raises(Transient):
            step(facebook, grant, post(), BEGUN)
