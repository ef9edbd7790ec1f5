"""Publishing to Instagram end to end: it fetches the files itself, and containers report whether a post was published."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from django.conf import settings as project
from django.test import Client
from pytest_django import Settings

from accounts.models import ConnectedAccount
from accounts.services import refresh_ahead
from billing import selectors as billing
from posts.publishing.worker_loop import publish_due
from tests.conftest import ApiClient
from tests.fakes.http_server import Answer
from tests.fakes.instagram import COMMENT, COMMENTS, MAKE, MEDIA, PUBLISH, FakeInstagram
from tests.fakes.instagram_login import CLIENT_ID, CLIENT_SECRET
from tests.fakes.meta import forbidden
from tests.media.pictures import jpeg
from tests.media.video_files import movie, movie_header, track
from tests.posts.rows import create, publish_rounds, read
from workspaces.models import Workspace

FILM = movie(track(duration=5000), header=movie_header(duration=5000))
DAY = 86_400


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeInstagram]:
    with FakeInstagram() as running:
        running.register_redirect(f"{project.BASE_URL}/dashboard/connect/callback")
        running.add_account("alice")
        settings.PLATFORM_SETTINGS = {
            "INSTAGRAM_CLIENT_ID": CLIENT_ID,
            "INSTAGRAM_CLIENT_SECRET": CLIENT_SECRET,
            "INSTAGRAM_API_BASE": running.url,
            "INSTAGRAM_AUTH_BASE": running.url,
        }
        running.fetch_by(lambda address: FILM if ".mp4?" in address else jpeg())
        yield running


@pytest.fixture
def account(api: ApiClient, workspace: Workspace, server: FakeInstagram, clock: Any) -> ConnectedAccount:
    begun = api.post("/accounts/connect", {"workspace_id": workspace.id, "platform": "instagram"}).json()
    brought = {"state": begun["state"], "code": server.grant(begun["authorization_url"], "alice")}
    answer = api.get(f"/accounts/oauth/callback?{urlencode(brought)}")
    assert answer.status_code == 200, answer.content
    return ConnectedAccount.objects.get(pk=answer.json()["account"]["id"])


@pytest.fixture(autouse=True)
def _books_balance(db: None) -> Any:
    yield
    assert billing.drift() == []


def post(api: ApiClient, account: ConnectedAccount, *files: bytes, **options: Any) -> dict[str, Any]:
    """Create a post of "Hello" with these files."""
    media = [{"media_id": api.upload(content).json()["media"]["id"], "alt_text": "Bread"} for content in files]
    target = {"platform": "instagram", "connected_account_id": account.id, "options": options}
    return create(api, account, targets=[target], media=media)


def ended(api: ApiClient, group: dict[str, Any]) -> tuple[str, str | None]:
    """The target's status and error code."""
    [target] = read(api, group)["targets"]
    return target["status"], (target["error"] or {}).get("code")


def test_a_carousel_is_fetched_where_everybody_may_fetch_it(
    api: ApiClient, server: FakeInstagram, account: ConnectedAccount
) -> None:
    group = post(api, account, jpeg(), FILM, first_comment="More")

    publish_due()

    [target], [made] = read(api, group)["targets"], server.posts("alice")
    assert (target["status"], target["external_id"]) == ("published", made["id"])
    assert target["permalink"] == f"https://www.instagram.com/p/C{made['id']}/"
    assert (made["caption"], made["comments"]) == ("Hello", ["More"])
    assert [alt_text for _, alt_text in made["files"]] == ["Bread", ""]
    assert len(made["addresses"]) == 2
    for address in made["addresses"]:
        parts = urlsplit(address)
        assert Client().get(f"{parts.path}?{parts.query}").status_code == 200
        assert address.startswith(f"{project.BASE_URL}/files/")


@pytest.mark.parametrize("way", ["dropped", "refused"])
def test_a_lost_answer_is_settled_by_the_container(
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


def test_a_post_that_instagram_did_not_take_is_sent_again(
    api: ApiClient, server: FakeInstagram, account: ConnectedAccount, clock: Any
) -> None:
    group = post(api, account, jpeg())
    server.fail_next(PUBLISH, 503)

    publish_rounds(clock)

    assert ended(api, group) == ("published", None)
    assert (len(server.posts("alice")), server.requests_to(PUBLISH)) == (1, 2)


def test_an_ambiguous_match_counts_as_published(
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


def test_a_failed_comment_is_reported_and_the_post_stays_published(
    api: ApiClient, server: FakeInstagram, account: ConnectedAccount, clock: Any
) -> None:
    group = post(api, account, jpeg(), first_comment="More")
    server.refuse_next(COMMENT, forbidden("instagram_business_manage_comments").answer())

    publish_rounds(clock)

    assert ended(api, group) == ("published", "PUBLISHED_INCOMPLETE")
    assert (server.requests_to(COMMENT), server.requests_to(COMMENTS)) == (1, 0)
    account.refresh_from_db()
    assert account.status == "active"


def test_what_instagram_processes_is_waited_for_without_costing_an_attempt(
    api: ApiClient, server: FakeInstagram, account: ConnectedAccount, clock: Any
) -> None:
    server.process_media(looks=15)
    group = post(api, account, FILM)
    publish_due()
    assert ended(api, group) == ("processing", None)

    publish_rounds(clock)

    [target] = read(api, group)["targets"]
    assert (target["status"], target["attempts"]) == ("published", 1)


def test_a_token_is_renewed_ahead_and_one_that_was_taken_away_needs_its_owner(
    api: ApiClient, server: FakeInstagram, account: ConnectedAccount, clock: Any
) -> None:
    for _ in range(3):
        clock.shift(49 * DAY)
        assert refresh_ahead() == 1
    group = post(api, account, jpeg())
    publish_rounds(clock)
    assert ended(api, group) == ("published", None)

    server.withdraw("alice")
    group = post(api, account, jpeg(colour="red"))
    publish_rounds(clock)

    assert ended(api, group) == ("failed", "ACCOUNT_NEEDS_REAUTH")
    account.refresh_from_db()
    assert account.status == "needs_reauth"


def test_posts_beyond_the_days_quota_wait_their_day_and_fail_by_nothing(
    api: ApiClient, account: ConnectedAccount, server: FakeInstagram, clock: Any
) -> None:
    server.limit_days(1)
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
