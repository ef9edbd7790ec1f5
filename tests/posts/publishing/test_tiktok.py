"""What happens to a TikTok post without a privacy level, without an answer, or whose access ends."""

from __future__ import annotations

from collections.abc import Iterator
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
from tests.fakes.tiktok import PHOTOS, FakeTikTok
from tests.posts.rows import publish_rounds
from workspaces.models import Workspace


@pytest.fixture
def world(settings: Settings, clock: Any) -> Iterator[World]:
    with world_of("tiktok", settings) as running:
        yield running
    assert billing.drift() == []


@pytest.fixture
def server(world: World) -> FakeTikTok:
    assert isinstance(world.server, FakeTikTok)
    return world.server


@pytest.fixture
def account(api: ApiClient, world: World, workspace: Workspace) -> ConnectedAccount:
    return world.connect(api, workspace.id)


def test_a_post_without_a_privacy_level_is_refused(api: ApiClient, account: ConnectedAccount) -> None:
    target = {"platform": "tiktok", "connected_account_id": account.id}

    answer = api.post("/posts", {"text": "Hello", "targets": [target]})

    assert (answer.status_code, answer.json()["code"]) == (422, "CONTENT_INVALID")
    assert "privacy_level" in " ".join(each["message"] for each in answer.json()["details"])


@pytest.mark.parametrize("taken", [True, False])
def test_photos_without_a_response_become_unconfirmed(
    api: ApiClient, world: World, server: FakeTikTok, account: ConnectedAccount, clock: Any, taken: bool
) -> None:
    target = post(api, world, account, kind="image")
    server.drop_next(PHOTOS, after_accept=taken)

    publish_rounds(clock)

    assert ended(target) == ("unconfirmed", "PUBLISH_OUTCOME_UNKNOWN")
    assert (len(world.posts()), server.requests_to(PHOTOS)) == (int(taken), 1)
    resolved = api.post(f"/posts/{target.group_id}/resolve", {"target_id": target.id, "published": False})
    assert resolved.status_code == 200, resolved.content
    assert api.post(f"/posts/{target.group_id}/retry").status_code == 200
    publish_rounds(clock)
    assert (ended(target)[0], server.requests_to(PHOTOS)) == ("published", 2)


def test_a_post_whose_access_ends_while_it_is_processed_is_not_failed(
    api: ApiClient, world: World, server: FakeTikTok, account: ConnectedAccount, clock: Any
) -> None:
    server.process_posts(2)
    target = post(api, world, account)
    publish_due()
    assert ended(target)[0] == "processing"
    assert "upload_token" not in str(target.progress)
    world.withdraw()

    publish_rounds(clock)

    assert ended(target)[0] == "unconfirmed"
    assert api.get(f"/accounts/{account.id}/status").json()["account"]["status"] == "needs_reauth"
