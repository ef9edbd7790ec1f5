"""Instagram's quota of posts in 24 hours: read before a container is created, and waited for once it is used up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accounts.platforms.errors import RateLimited
from accounts.platforms.instagram.adapter import Instagram
from accounts.platforms.types import Content, Grant
from tests.accounts.platforms.instagram.files import image
from tests.accounts.platforms.meta.steps import error, go_to, post, publish, step
from tests.fakes.http_server import Answer
from tests.fakes.instagram import MAKE, QUOTA, FakeInstagram


@pytest.fixture
def content(server: FakeInstagram) -> Content:
    return post("Hello", image(server))


def test_a_post_beyond_the_daily_quota_waits_and_reuses_its_container(
    instagram: Instagram, server: FakeInstagram, grant: Grant, content: Content
) -> None:
    """Another post used up the quota after it was read."""
    ready = go_to("create", instagram, grant, content)
    server.limit_posts_per_day(0)

    for attempt, hours in ((1, 0.5), (2, 1), (6, 12), (9, 12)):
        with pytest.raises(RateLimited, match="daily limit") as caught:
            step(instagram, grant, replace(content, attempt=attempt), ready)
        assert caught.value.retry_after == hours * 3600

    server.limit_posts_per_day(1)
    publish(instagram, grant, content, ready)
    assert (server.requests_to(MAKE), len(server.posts("alice"))) == (1, 1)


def test_no_container_is_created_once_the_daily_quota_is_used_up(
    instagram: Instagram, server: FakeInstagram, grant: Grant, content: Content
) -> None:
    server.limit_posts_per_day(1)
    server.post("alice", "By hand, which is not counted")
    publish(instagram, grant, content)

    with pytest.raises(RateLimited, match="publish 1 posts in 24 hours") as caught:
        publish(instagram, grant, content)

    assert caught.value.retry_after == 1800
    assert server.requests_to(MAKE) == 1


@pytest.mark.parametrize(
    "answer",
    [
        Answer(503),
        error(10, "no permission", status=403),
        error(190, "stale", status=401),
        Answer(200, b"<html>"),
        Answer.of_json({"data": []}),
        Answer.of_json({"data": [{"quota_usage": 3}]}),
        Answer.of_json({"data": [{"quota_usage": "3", "config": {"quota_total": None}}]}),
    ],
)
def test_an_unreadable_quota_stops_no_post(
    instagram: Instagram, server: FakeInstagram, grant: Grant, content: Content, answer: Answer
) -> None:
    server.refuse_next(QUOTA, answer)

    publish(instagram, grant, content)

    assert (server.requests_to(QUOTA), len(server.posts("alice"))) == (1, 1)


def test_a_carousel_reads_the_quota_once(instagram: Instagram, server: FakeInstagram, grant: Grant) -> None:
    publish(instagram, grant, post("Hello", image(server), image(server, "orange"), image(server, "navy")))

    assert server.requests_to(QUOTA) == 1
