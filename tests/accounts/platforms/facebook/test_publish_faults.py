"""Publishing to Facebook with errors: duplicates that Facebook refuses, and first comments that fail."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.platforms.errors import ContentRejected, OutcomeUnknown, PlatformError, RateLimited, TokenExpired
from accounts.platforms.facebook.adapter import Facebook
from accounts.platforms.types import Grant
from tests.accounts.platforms.media_files import media_file, picture
from tests.accounts.platforms.meta.steps import error, go_to, post, publish, step
from tests.fakes.facebook import COMMENT, FEED, OBJECT, FakeFacebook
from tests.fakes.http_server import Answer

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def test_a_duplicate_of_an_older_post_is_rejected(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str
) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        publish(facebook, grant, post("Hello"))
        clock.shift(timedelta(hours=1))

        with pytest.raises(ContentRejected, match="identical"):
            publish(facebook, grant, post("Hello"))

    assert len(server.posts(page_id)) == 1


@pytest.mark.parametrize("with_photo", [True, False])
def test_a_duplicate_that_is_not_listed_leaves_the_outcome_unknown(
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


def test_a_duplicate_of_an_earlier_attempt_is_that_post(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str
) -> None:
    progress = go_to("create", facebook, grant, post("Hello"))
    first = step(facebook, grant, post("Hello"), progress)

    assert step(facebook, grant, post("Hello"), progress) == first
    assert len(server.posts(page_id)) == 1


def test_a_post_whose_permalink_cannot_be_read_is_published(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str
) -> None:
    server.fail_next(OBJECT, 500)

    published = publish(facebook, grant, post())

    assert published.permalink == f"https://www.facebook.com/{server.posts(page_id)[0]['id']}"


@pytest.mark.parametrize(
    ("answer", "expected"),
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
def test_the_error_of_a_first_comment_is_translated(
    facebook: Facebook, server: FakeFacebook, grant: Grant, page_id: str, answer: Answer, expected: type[PlatformError]
) -> None:
    content = post("Hello", first_comment="More")
    progress = go_to("comment", facebook, grant, content)
    [made] = server.posts(page_id)
    assert progress.published
    assert progress.published.external_id == made["id"]
    server.refuse_next(COMMENT, answer)

    with pytest.raises(PlatformError) as caught:
        step(facebook, grant, content, progress)

    assert type(caught.value) is expected
    assert server.requests_to(FEED) == 1
