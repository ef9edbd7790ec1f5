"""Publishing to Pinterest end to end: video uploads that outlast tokens, and the choice of a board."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings

from accounts.models import ConnectedAccount
from accounts.platforms.errors import TokenExpired
from posts.publishing.attempts import LEASE
from tests.accounts.platforms.contract.content import VIDEO
from tests.accounts.platforms.contract.worlds import world_of
from tests.accounts.platforms.pinterest.world import PlatformWorld
from tests.conftest import ApiClient
from tests.fakes.pinterest_oauth import ACCESS_LIVES
from tests.posts.publishing.steps import begin, do, take_up
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import body_for, publish_rounds, read
from workspaces.models import Workspace


@pytest.fixture
def world(settings: Settings) -> Iterator[PlatformWorld]:
    with world_of("pinterest", settings) as running:
        assert isinstance(running, PlatformWorld)
        yield running


@pytest.fixture
def account(world: PlatformWorld, api: ApiClient, workspace: Workspace, clock: Any) -> ConnectedAccount:
    return world.connect(api, workspace.id)


def post_video(api: ApiClient, account: ConnectedAccount, **options: Any) -> Any:
    uploaded = api.upload(VIDEO.content, filename="A dance.mp4", alt_text="A dance")
    assert uploaded.status_code == 201, uploaded.content
    body = body_for(account, media=[{"media_id": uploaded.json()["media"]["id"]}])
    body["targets"][0]["options"] = options
    return api.post("/posts", body)


def test_a_video_is_one_pin_although_the_token_expires_and_the_worker_dies(
    api: ApiClient, world: PlatformWorld, account: ConnectedAccount, clock: Any
) -> None:
    world.server.process_videos(checks=3)
    group = post_video(api, account, board="Garden", title="A title", cover_seconds=2).json()["post_group"]
    run_until_idle()
    assert read(api, group)["targets"][0]["status"] == "processing"
    clock.shift(ACCESS_LIVES)
    worker = take_up()
    begin(worker)
    with pytest.raises(TokenExpired):
        do(worker)
    clock.shift(LEASE)

    publish_rounds(clock)

    [made], [target] = world.server.pins("alice"), read(api, group)["targets"]
    assert (target["status"], target["attempts"]) == ("published", 2)
    assert target["permalink"] == f"https://www.pinterest.com/pin/{made['id']}/"
    assert (made["title"], made["cover"]) == ("A title", ("cover_image_key_frame_time", 2))
    assert made["board_id"] == world.boards["Garden"]


def test_a_post_without_a_board_is_invalid_and_one_with_an_unknown_board_is_rejected(
    api: ApiClient, world: PlatformWorld, account: ConnectedAccount, clock: Any
) -> None:
    refused = post_video(api, account)
    assert (refused.status_code, refused.json()["code"]) == (422, "CONTENT_INVALID")
    assert "board" in refused.json()["details"][0]["message"]

    group = post_video(api, account, board="Travel").json()["post_group"]
    publish_rounds(clock)

    error = read(api, group)["targets"][0]["error"]
    assert (error["code"], error["message"]) == (
        "PLATFORM_REJECTED",
        "The account has no board of this name; it has Garden, Recipes.",
    )
