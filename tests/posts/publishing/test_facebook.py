"""Facebook from the API to the page: lists that lag, first comments, the limit of reels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings

from accounts.models import ConnectedAccount
from billing import selectors as billing
from posts.publishing.attempts import LEASE
from tests.accounts.platforms.contract.worlds import world_of
from tests.accounts.platforms.facebook.world import PlatformWorld
from tests.conftest import ApiClient
from tests.fakes.facebook import COMMENT, COMMENTS, FEED, START_REEL, FakeFacebook
from tests.fakes.http_server import Answer
from tests.fakes.meta import forbidden
from tests.media.pictures import jpeg
from tests.media.video_files import movie, movie_header, track
from tests.posts.publishing.steps import begin, do, take_first_step, take_up
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import create, events_of, publish_rounds, read
from workspaces.models import Workspace

FILM = movie(track(duration=5000), header=movie_header(duration=5000))


@pytest.fixture
def world(settings: Settings, clock: Any) -> Iterator[PlatformWorld]:
    with world_of("facebook", settings) as running:
        assert isinstance(running, PlatformWorld)
        yield running


@pytest.fixture
def server(world: PlatformWorld) -> FakeFacebook:
    return world.server


@pytest.fixture
def page_id(world: PlatformWorld) -> str:
    return world.page


@pytest.fixture
def account(api: ApiClient, workspace: Workspace, world: PlatformWorld) -> ConnectedAccount:
    """The page that was chosen from those that one login opens."""
    world.server.add_page("Another", admin="alice")
    return world.connect(api, workspace.id)


@pytest.fixture(autouse=True)
def _books_balance(db: None) -> Any:
    yield
    assert billing.find_wrong_month_counters() == []


def post(api: ApiClient, account: ConnectedAccount, *files: bytes, **options: str) -> dict[str, Any]:
    """Create a post of "Hello" with these files."""
    media = [{"media_id": api.upload(content).json()["media"]["id"], "alt_text": "Bread"} for content in files]
    target = {"platform": "facebook", "connected_account_id": account.id, "options": options}
    return create(api, account, targets=[target], **({"media": media} if media else {}))


def outcome_of(api: ApiClient, group: dict[str, Any]) -> tuple[str, str | None]:
    """The target's status and error code."""
    [target] = read(api, group)["targets"]
    return target["status"], (target["error"] or {}).get("code")


@pytest.mark.parametrize("files", [[], [jpeg()]], ids=["text", "photo"])
@pytest.mark.parametrize("lag", [0, 300])
def test_a_post_without_a_response_is_found_when_facebook_lists_it(
    api: ApiClient, server: FakeFacebook, account: ConnectedAccount, page_id: str, clock: Any, files: list[bytes], lag: int
) -> None:
    server.lag_lists(lag)
    group = post(api, account, *files)
    server.drop_next(FEED)

    publish_rounds(clock)

    [target], [made] = read(api, group)["targets"], server.posts(page_id)
    assert (target["status"], target["external_id"]) == ("published", made["id"])
    assert server.requests_to(FEED) == 1


@pytest.mark.parametrize("until", ["create", "comment"])
def test_another_worker_writes_the_first_comment_after_a_worker_died(
    api: ApiClient, server: FakeFacebook, account: ConnectedAccount, page_id: str, clock: Any, until: str
) -> None:
    group = post(api, account, first_comment="More")
    worker = take_up()
    take_first_step(worker)
    if until == "comment":
        take_first_step(worker)
    begin(worker)
    do(worker)  # and nobody stores what came of it
    clock.shift(LEASE)

    publish_rounds(clock)

    assert outcome_of(api, group) == ("published", None)
    [made] = server.posts(page_id)
    assert made["comments"] == ["More"]


@pytest.mark.parametrize(
    "refusal", [forbidden("pages_manage_engagement").answer(), Answer(200, b"<html>")], ids=["refused", "unknown"]
)
def test_a_failed_comment_leaves_the_post_published_with_an_error(
    api: ApiClient, server: FakeFacebook, account: ConnectedAccount, page_id: str, clock: Any, refusal: Answer
) -> None:
    group = post(api, account, first_comment="More")
    server.refuse_next(COMMENT, refusal, times=99)
    server.refuse_next(COMMENTS, forbidden("pages_read_engagement").answer(), times=99)

    publish_rounds(clock)

    [target], [made] = read(api, group)["targets"], server.posts(page_id)
    assert (target["status"], target["external_id"]) == ("published", made["id"])
    assert target["error"]["code"] == "PUBLISHED_INCOMPLETE"
    assert "do not send it again" in target["error"]["suggested_action"]
    assert read(api, group)["status"] == "published"
    assert [event["type"] for event in events_of(group)] == ["post.published"]
    assert (server.requests_to(FEED), server.requests_to(COMMENT), made["comments"]) == (1, 1, [])
    assert api.post(f"/posts/{group['id']}/retry", {"include_unconfirmed": True}).status_code == 409
    account.refresh_from_db()
    assert account.status == "active"


def test_a_comment_without_a_response_is_created_once(
    api: ApiClient, server: FakeFacebook, account: ConnectedAccount, page_id: str, clock: Any
) -> None:
    group = post(api, account, first_comment="More")
    server.drop_next(COMMENT)

    publish_rounds(clock)

    assert outcome_of(api, group) == ("published", None)
    assert server.posts(page_id)[0]["comments"] == ["More"]


def test_reels_beyond_the_daily_limit_wait_while_other_posts_are_published(
    api: ApiClient, server: FakeFacebook, account: ConnectedAccount, page_id: str, clock: Any
) -> None:
    server.add_reels(page_id, 30)
    reels = [post(api, account, FILM, post_type="reel") for _ in range(2)]
    text = post(api, account)

    run_until_idle()

    assert [outcome_of(api, reel) for reel in reels] == [("retrying", "PLATFORM_RATE_LIMITED")] * 2
    assert outcome_of(api, text) == ("published", None)
    assert server.requests_to(START_REEL) == 0
    publish_rounds(clock)
    assert [outcome_of(api, reel) for reel in reels] == [("published", None)] * 2
    assert [video["content"] for video in server.videos(page_id)].count(FILM) == 2
