"""Instagram from the API to the post: containers that say whether a post is published, first comments, the daily quota."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_django import Settings

from accounts.models import ConnectedAccount
from accounts.services import refresh_ahead
from billing import selectors as billing
from posts.publishing.worker_loop import publish_due
from tests.accounts.platforms.contract.worlds import world_of
from tests.accounts.platforms.instagram.world import PlatformWorld
from tests.conftest import ApiClient
from tests.fakes.http_server import Answer
from tests.fakes.instagram import COMMENT, COMMENTS, MAKE, MEDIA, PUBLISH, FakeInstagram
from tests.fakes.meta import forbidden
from tests.media.pictures import jpeg
from tests.media.video_files import movie, movie_header, track
from tests.posts.rows import create, publish_rounds, read
from workspaces.models import Workspace

FILM = movie(track(duration=5000), header=movie_header(duration=5000))


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
    assert billing.drift() == []


def post(api: ApiClient, account: ConnectedAccount, *files: bytes, **options: Any) -> dict[str, Any]:
    """Create a post of "Hello" with these files."""
    media = [{"media_id": api.upload(content).json()["media"]["id"], "alt_text": "Bread"} for content in files]
    target = {"platform": "instagram", "connected_account_id": account.id, "options": options}
    return create(api, account, targets=[target], media=media)


def outcome_of(api: ApiClient, group: dict[str, Any]) -> tuple[str, str | None]:
    """The target's status and error code."""
    [target] = read(api, group)["targets"]
    return target["status"], (target["error"] or {}).get("code")


def test_a_video_in_processing_costs_no_attempt(
    api: ApiClient, server: FakeInstagram, account: ConnectedAccount, clock: Any
) -> None:
    server.process_media(checks=15)
    group = post(api, account, FILM)
    publish_due()
    assert outcome_of(api, group) == ("processing", None)

    publish_rounds(clock)

    [target] = read(api, group)["targets"]
    assert (target["status"], target["attempts"]) == ("published", 1)


def test_tokens_are_renewed_before_they_expire(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    for _ in range(3):
        clock.shift(timedelta(days=49))
        assert refresh_ahead() == 1

    group = post(api, account, jpeg())
    publish_rounds(clock)

    assert outcome_of(api, group) == ("published", None)


@pytest.mark.parametrize("way", ["dropped", "refused"])
def test_the_container_says_whether_a_post_without_a_response_is_published(
    api: ApiClient, server: FakeInstagram, account: ConnectedAccount, clock: Any, way: str
) -> None:
    group = post(api, account, jpeg())
    if way == "dropped":
        server.drop_next(PUBLISH)
    else:
        refused = {"error": {"code": -1, "error_subcode": 2207001, "message": "Instagram server error. Try again."}}
        server.refuse_next(PUBLISH, Answer.of_json(refused, 400), after_accept=True)

    publish_rounds(clock)

    [target], [made] = read(api, group)["targets"], server.posts("alice")
    assert (target["status"], target["external_id"]) == ("published", made["id"])
    assert server.requests_to(PUBLISH) == 1


def test_a_published_post_that_cannot_be_identified_is_published_with_an_error(
    api: ApiClient, server: FakeInstagram, account: ConnectedAccount, clock: Any
) -> None:
    groups = [post(api, account, jpeg(colour=colour)) for colour in ("teal", "red")]
    for _ in groups:
        server.drop_next(PUBLISH)

    publish_rounds(clock)

    for group in groups:
        [target] = read(api, group)["targets"]
        assert (target["status"], target["permalink"]) == ("published", "")
        assert target["error"]["code"] == "PUBLISHED_INCOMPLETE"
    assert (len(server.posts("alice")), server.requests_to(PUBLISH)) == (2, 2)
    assert server.requests_to(MEDIA) == 2


def test_a_failed_comment_leaves_the_post_published_with_an_error(
    api: ApiClient, server: FakeInstagram, account: ConnectedAccount, clock: Any
) -> None:
    group = post(api, account, jpeg(), first_comment="More")
    server.refuse_next(COMMENT, forbidden("instagram_business_manage_comments").answer())

    publish_rounds(clock)

    assert outcome_of(api, group) == ("published", "PUBLISHED_INCOMPLETE")
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
    publish_due()

    [waiting] = read(api, groups[1])["targets"]
    assert (waiting["status"], waiting["error"]["code"]) == ("retrying", "PLATFORM_RATE_LIMITED")
    assert server.requests_to(MAKE) == 1
    publish_rounds(clock)
    [published] = read(api, groups[1])["targets"]
    assert published["status"] == "published"
    assert datetime.now(UTC) - begun >= timedelta(hours=24)
    assert [made["caption"] for made in server.posts("alice")] == ["First", "Second"]
