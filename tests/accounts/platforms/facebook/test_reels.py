"""Facebook's limit of 30 reels in 24 hours: counted before anything is uploaded, and waited for if Facebook refuses one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from accounts.platforms.errors import ContentRejected, RateLimited
from accounts.platforms.facebook.adapter import Facebook
from accounts.platforms.types import Content, Grant
from tests.accounts.platforms.media_files import MP4, media_file
from tests.accounts.platforms.meta.steps import error, go_to, post, publish, step
from tests.fakes.facebook import FINISH_REEL, REELS, START_REEL, FakeFacebook
from tests.fakes.http_server import Answer
from tests.fakes.meta import GraphRefusal, business_usage

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def reel() -> Content:
    return post("Look", media_file(MP4, "video/mp4", duration_ms=10_000), post_type="reel")


def test_the_31st_reel_waits_for_the_first_to_be_a_day_old(
    facebook: Facebook, server: FakeFacebook, page_id: str, grant: Grant, reel: Content
) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        server.add_reels(page_id, 1)
        clock.move_to(NOON + timedelta(hours=3))
        server.add_reels(page_id, 29)
        clock.move_to(NOON + timedelta(hours=10))

        with pytest.raises(RateLimited, match="30 reels in 24 hours") as caught:
            publish(facebook, grant, reel)

        assert caught.value.retry_after == timedelta(hours=14).total_seconds()
        assert server.requests_to(START_REEL) == 0

        clock.shift(timedelta(hours=14, seconds=1))
        publish(facebook, grant, reel)


def test_after_two_waits_facebook_decides(
    facebook: Facebook, server: FakeFacebook, page_id: str, grant: Grant, reel: Content
) -> None:
    """The list contains reels that were published by hand, which Facebook does not count."""
    server.add_reels(page_id, 30)

    for attempt in (1, 2):
        with pytest.raises(RateLimited, match="30 reels in 24 hours"):
            publish(facebook, grant, replace(reel, attempt=attempt))
    assert server.requests_to(START_REEL) == 0

    with pytest.raises(RateLimited, match="613"):  # the stand-in counts them all
        publish(facebook, grant, replace(reel, attempt=3))
    assert server.requests_to(START_REEL) == 1


def test_other_posts_of_the_page_do_not_wait_for_its_reels(
    facebook: Facebook, server: FakeFacebook, page_id: str, grant: Grant, reel: Content
) -> None:
    server.add_reels(page_id, 30)

    publish(facebook, grant, replace(reel, options={}))
    publish(facebook, grant, replace(reel, options={"post_type": "story"}))
    publish(facebook, grant, post("Hello"))

    assert server.requests_to(REELS) == 0


@pytest.mark.parametrize(
    "refusal",
    [
        GraphRefusal(613, "(#613) Calls to this api have exceeded the rate limit."),
        GraphRefusal(368, "We limit how often you can post.", 1390008),
        GraphRefusal(100, "(#100) The page has published too many reels."),
        GraphRefusal(99_999, "Too many reels"),
    ],
)
def test_a_reel_that_facebook_refuses_for_its_limit_waits_and_is_not_uploaded_again(
    facebook: Facebook, server: FakeFacebook, page_id: str, grant: Grant, reel: Content, refusal: GraphRefusal
) -> None:
    """Somebody else has published the last reel of the day since the page's reels were counted."""
    with time_machine.travel(NOON, tick=False) as clock:
        ready = go_to("create", facebook, grant, reel)
        server.add_reels(page_id, 30)
        server.refuse_reels_by(refusal)

        with pytest.raises(RateLimited) as caught:
            step(facebook, grant, reel, ready)
        assert (caught.value.retry_after or 0) >= 1800

        clock.shift(timedelta(hours=19))
        with pytest.raises(RateLimited) as caught:
            step(facebook, grant, replace(reel, attempt=5), ready)
        assert (caught.value.retry_after or 0) >= timedelta(hours=5).total_seconds()

        clock.shift(timedelta(hours=8))
        publish(facebook, grant, replace(reel, attempt=6), ready)
    assert [video["content"] for video in server.videos(page_id)].count(MP4) == 1
    assert server.requests_to(START_REEL) == 1


def test_the_pause_that_facebook_names_is_used(
    facebook: Facebook, server: FakeFacebook, page_id: str, grant: Grant, reel: Content
) -> None:
    ready = go_to("create", facebook, grant, reel)
    server.refuse_next(FINISH_REEL, GraphRefusal(80001, "Too many calls").answer(business_usage(page_id, 7)))

    with pytest.raises(RateLimited) as caught:
        step(facebook, grant, reel, ready)

    assert caught.value.retry_after == 420


@pytest.mark.parametrize("answer", [Answer(503), error(100, "Unsupported get request"), Answer(200, b"<html>")])
def test_a_reel_is_published_if_the_reels_cannot_be_counted(
    facebook: Facebook, server: FakeFacebook, page_id: str, grant: Grant, reel: Content, answer: Answer
) -> None:
    server.refuse_next(REELS, answer)

    publish(facebook, grant, reel)

    assert [video["content"] for video in server.videos(page_id)] == [MP4]


def test_a_reel_that_is_refused_below_the_limit_is_rejected(
    facebook: Facebook, server: FakeFacebook, page_id: str, grant: Grant, reel: Content
) -> None:
    server.add_reels(page_id, 29)
    ready = go_to("create", facebook, grant, reel)
    server.refuse_next(FINISH_REEL, error(100, "Invalid parameter"))

    with pytest.raises(ContentRejected):
        step(facebook, grant, reel, ready)
