"""Instagram from the API to the post: a first comment that fails, and the daily quota."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_django import Settings

from accounts.models import ConnectedAccount
from billing import selectors as billing
from tests.accounts.platforms.contract.worlds import world_of
from tests.accounts.platforms.instagram.world import PlatformWorld
from tests.conftest import ApiClient
from tests.fakes.instagram import COMMENT, COMMENTS, MAKE, FakeInstagram
from tests.fakes.meta import forbidden
from tests.media.pictures import jpeg
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import create, publish_rounds, read
from workspaces.models import Workspace


@pytest.fixture
def world(settings: Settings, clock: Any) -> Iterator[PlatformWorld]:
    with world_of("instagram", settings) as running:
        assert isinstance(running, PlatformWorld)
        yield running


@pytest.fixture
def server(world: PlatformWorld) -> FakeInstagram:
    return world.server


@pytest.fixture
def account(api: ApiClient, workspace: Workspace, world: PlatformWorld) -> ConnectedAccount:
    return world.connect(api, workspace.id)


@pytest.fixture(autouse=True)
def _books_balance(db: None) -> Any:
    yield
    assert billing.find_wrong_month_counters() == []


def test_a_failed_comment_leaves_the_post_published_with_an_error(
    api: ApiClient, server: FakeInstagram, account: ConnectedAccount, clock: Any
) -> None:
    media = [{"media_id": api.upload(jpeg()).json()["media"]["id"], "alt_text": "Bread"}]
    target = {"platform": "instagram", "connected_account_id": account.id, "options": {"first_comment": "More"}}
    group = create(api, account, targets=[target], media=media)
    server.refuse_next(COMMENT, forbidden("instagram_business_manage_comments").answer())

    publish_rounds(clock)

    [ended] = read(api, group)["targets"]
    assert (ended["status"], ended["error"]["code"]) == ("published", "PUBLISHED_INCOMPLETE")
    assert (server.requests_to(COMMENT), server.requests_to(COMMENTS)) == (1, 0)
    account.refresh_from_db()
    assert account.status == "active"


def test_posts_beyond_the_daily_quota_wait_and_are_published(
    api: ApiClient, account: ConnectedAccount, server: FakeInstagram, clock: Any
) -> None:
    server.limit_posts_per_day(1)
    media = [{"media_id": api.upload(jpeg(640, 480), filename="bench.jpg").json()["media"]["id"]}]
    groups = [create(api, account, text="First", media=media)]
    publish_rounds(clock)
    begun = datetime.now(UTC)

    groups.append(create(api, account, text="Second", media=media))
    run_until_idle()

    [waiting] = read(api, groups[1])["targets"]
    assert (waiting["status"], waiting["error"]["code"]) == ("retrying", "PLATFORM_RATE_LIMITED")
    assert server.requests_to(MAKE) == 1
    publish_rounds(clock)
    [published] = read(api, groups[1])["targets"]
    assert published["status"] == "published"
    assert datetime.now(UTC) - begun >= timedelta(hours=24)
    assert [made["caption"] for made in server.posts("alice")] == ["First", "Second"]
