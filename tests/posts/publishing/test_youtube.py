"""What happens to a YouTube post when the quota, the upload or the access ends."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from pytest_django import Settings

from accounts.models import ConnectedAccount
from billing import selectors as billing
from posts.publishing.worker_loop import publish_due
from tests.accounts.platforms.contract.content import ended, post
from tests.accounts.platforms.contract.world import World
from tests.accounts.platforms.contract.worlds import world_of
from tests.conftest import ApiClient
from tests.fakes.youtube import LAST, FakeYouTube
from tests.posts.rows import publish_rounds
from workspaces.models import Workspace


@pytest.fixture
def world(settings: Settings, clock: Any) -> Iterator[World]:
    with world_of("youtube", settings) as running:
        yield running
    assert billing.drift() == []


@pytest.fixture
def server(world: World) -> FakeYouTube:
    assert isinstance(world.server, FakeYouTube)
    return world.server


@pytest.fixture
def account(api: ApiClient, world: World, workspace: Workspace) -> ConnectedAccount:
    return world.connect(api, workspace.id)


def test_a_forgotten_upload_leaves_the_outcome_unknown(
    api: ApiClient, world: World, server: FakeYouTube, account: ConnectedAccount, clock: Any
) -> None:
    target = post(api, world, account)
    server.drop_next(LAST)
    publish_due()
    server.forget_sessions()

    publish_rounds(clock)

    assert ended(target) == ("unconfirmed", "PUBLISH_OUTCOME_UNKNOWN")
    assert len(world.posts()) == 1


def test_a_video_whose_access_ends_while_it_is_processed_is_not_failed(
    api: ApiClient, world: World, server: FakeYouTube, account: ConnectedAccount, clock: Any
) -> None:
    server.process_videos(checks=2)
    target = post(api, world, account)
    publish_due()
    assert ended(target)[0] == "processing"
    assert "upload_id" not in str(target.progress)
    world.withdraw()

    publish_rounds(clock)

    assert ended(target)[0] == "unconfirmed"
    assert api.get(f"/accounts/{account.id}/status").json()["account"]["status"] == "needs_reauth"
    assert len(world.posts()) == 1


def test_a_post_beyond_the_quota_waits(
    api: ApiClient, world: World, server: FakeYouTube, account: ConnectedAccount, clock: Any
) -> None:
    target = post(api, world, account)
    server.use_up_quota()
    publish_due()
    assert ended(target) == ("retrying", "PLATFORM_RATE_LIMITED")
    assert target.due_at == datetime(2027, 3, 11, 8, 1, tzinfo=UTC)  # midnight in California, and a minute

    server.reset_quota()
    publish_rounds(clock)

    assert (ended(target)[0], len(world.posts())) == ("published", 1)
