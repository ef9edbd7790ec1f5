"""Publishing to TikTok end to end: at most one post whatever fails, and the outcome is always reported."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from django.conf import settings as project
from pytest_django import Settings

from accounts.models import ConnectedAccount
from accounts.platforms.registry import publisher
from accounts.platforms.types import Content, Progress
from billing import selectors as billing
from posts.attached_media import adapter_media_files
from posts.models import PostTarget
from posts.publishing import outcomes
from posts.publishing.engine import LEASE
from posts.publishing.worker_loop import publish_due
from tests.conftest import ApiClient
from tests.fakes.tiktok import CHUNK, LAST, PHOTOS, STATUS, VIDEO, FakeTikTok
from tests.fakes.tiktok_oauth import CLIENT_KEY, CLIENT_SECRET
from tests.media.pictures import jpeg
from tests.media.video_files import box, movie, movie_header
from tests.posts.publishing.steps import begin, take_up
from tests.posts.rows import create, publish_rounds, read
from workspaces.models import Workspace

FILM = movie(header=movie_header(duration=5000), tail=box(b"free", bytes(20_000_000)))
PUBLIC = {"privacy_level": "PUBLIC_TO_EVERYONE"}


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeTikTok]:
    with FakeTikTok() as running:
        running.register_redirect(f"{project.BASE_URL}/dashboard/connect/callback")
        running.add_creator("alice")
        running.verify(project.BASE_URL)
        settings.PLATFORM_SETTINGS = {
            "TIKTOK_CLIENT_ID": CLIENT_KEY,
            "TIKTOK_CLIENT_SECRET": CLIENT_SECRET,
            "TIKTOK_API_BASE": running.url,
            "TIKTOK_AUTH_BASE": running.url,
            "TIKTOK_VERIFIED_PREFIX": project.BASE_URL,
        }
        yield running


@pytest.fixture
def account(api: ApiClient, workspace: Workspace, server: FakeTikTok, clock: Any) -> ConnectedAccount:
    begun = api.post("/accounts/connect", {"workspace_id": workspace.id, "platform": "tiktok"}).json()
    code = server.grant(begun["authorization_url"], "alice")
    answer = api.get(f"/accounts/oauth/callback?state={begun['state']}&code={quote(code, safe='')}")
    assert answer.status_code == 200, answer.content
    return ConnectedAccount.objects.get(pk=answer.json()["account"]["id"])


@pytest.fixture(autouse=True)
def _books_balance(db: None) -> Any:
    yield
    assert billing.drift() == []


def uploaded(api: ApiClient, content: bytes, filename: str) -> dict[str, Any]:
    answer = api.upload(content, filename=filename)
    assert answer.status_code == 201, answer.content
    return dict(answer.json()["media"])


@pytest.fixture
def film(api: ApiClient) -> dict[str, Any]:
    """A two-chunk video, uploaded as MEDIA."""
    return uploaded(api, FILM, "film.mp4")


def post_media(api: ApiClient, account: ConnectedAccount, *media: dict[str, Any], **options: Any) -> dict[str, Any]:
    target = {"platform": "tiktok", "connected_account_id": account.id, "options": {**PUBLIC, **options}}
    return create(api, account, targets=[target], media=[{"media_id": each["id"]} for each in media])


def ended(api: ApiClient, group: dict[str, Any]) -> dict[str, Any]:
    [target] = read(api, group)["targets"]
    return dict(target)


def test_a_video_is_published(
    api: ApiClient, server: FakeTikTok, account: ConnectedAccount, film: dict[str, Any], clock: Any
) -> None:
    server.process_posts(2, looks_for_id=1)
    group = post_media(api, account, film, disable_duet=True)
    publish_due()
    assert ended(api, group)["status"] == "processing"
    assert "upload_token" not in str(PostTarget.objects.get().progress)

    publish_rounds(clock)

    target, [shown] = ended(api, group), server.posts("alice")
    assert (target["status"], target["attempts"], target["error"]) == ("published", 1, None)
    assert target["permalink"] == f"https://www.tiktok.com/@alice/video/{shown['id']}"
    assert (shown["title"], shown["disable_duet"]) == ("Hello", True)
    assert hashlib.sha256(shown["content"]).hexdigest() == film["sha256"]


def test_photos_are_fetched_from_urls_without_redirects(
    api: ApiClient, server: FakeTikTok, account: ConnectedAccount, clock: Any
) -> None:
    group = post_media(api, account, uploaded(api, jpeg(), "a.jpg"), uploaded(api, jpeg(colour="red"), "b.jpg"))

    publish_rounds(clock)

    [shown] = server.posts("alice")
    assert ended(api, group)["permalink"] == f"https://www.tiktok.com/@alice/photo/{shown['id']}"
    fetched = [api.http.get(url.removeprefix(project.BASE_URL)) for url in shown["urls"]]
    assert [answer.status_code for answer in fetched] == [200, 200]


def test_who_may_see_a_post_has_to_be_said(api: ApiClient, account: ConnectedAccount, film: dict[str, Any]) -> None:
    target = {"platform": "tiktok", "connected_account_id": account.id}

    answer = api.post("/posts", {"text": "Hello", "targets": [target], "media": [{"media_id": film["id"]}]})

    assert (answer.status_code, answer.json()["code"]) == (422, "CONTENT_INVALID")
    assert "privacy_level" in answer.json()["details"][0]["message"]


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("call", [VIDEO, CHUNK, LAST, STATUS])
def test_an_answer_that_is_lost_makes_no_second_post(
    api: ApiClient,
    server: FakeTikTok,
    account: ConnectedAccount,
    film: dict[str, Any],
    clock: Any,
    call: str,
    taken: bool,
) -> None:
    group = post_media(api, account, film)
    server.drop_next(call, after_accept=taken)

    publish_rounds(clock)

    [shown] = server.posts("alice")
    assert (ended(api, group)["status"], ended(api, group)["external_id"]) == ("published", shown["id"])
    assert hashlib.sha256(shown["content"]).hexdigest() == film["sha256"]


@pytest.mark.parametrize("taken", [True, False])
def test_photos_whose_announcement_was_not_answered_wait_for_a_person(
    api: ApiClient, server: FakeTikTok, account: ConnectedAccount, clock: Any, taken: bool
) -> None:
    group = post_media(api, account, uploaded(api, jpeg(), "a.jpg"))
    server.drop_next(PHOTOS, after_accept=taken)

    publish_rounds(clock)

    target = ended(api, group)
    assert (target["status"], target["error"]["code"]) == ("unconfirmed", "PUBLISH_OUTCOME_UNKNOWN")
    assert (len(server.posts("alice")), server.requests_to(PHOTOS)) == (int(taken), 1)
    resolved = api.post(f"/posts/{group['id']}/resolve", {"target_id": target["id"], "published": False})
    assert resolved.status_code == 200, resolved.content
    assert api.post(f"/posts/{group['id']}/retry").status_code == 200
    publish_rounds(clock)
    assert (ended(api, group)["status"], server.requests_to(PHOTOS)) == ("published", 2)


@pytest.mark.parametrize("phase", ["start", "upload", "finish", "poll"])
def test_a_worker_that_dies_after_a_step_leaves_it_to_the_next(
    api: ApiClient, server: FakeTikTok, account: ConnectedAccount, film: dict[str, Any], clock: Any, phase: str
) -> None:
    server.process_posts(1)
    group = post_media(api, account, film)
    worker = take_up()
    while True:
        begin(worker)
        content = Content(worker.id, worker.shown_text, worker.options, 1, adapter_media_files(worker.group))
        following = publisher("tiktok", sandbox=False).publish(
            account.grant(), content, Progress(worker.phase, worker.progress)
        )
        if worker.phase == phase:
            break
        assert isinstance(following, Progress)
        outcomes.advance(worker, Progress(following.phase, following.state))
    clock.shift(LEASE)

    publish_rounds(clock)

    [shown] = server.posts("alice")
    assert (ended(api, group)["status"], ended(api, group)["external_id"]) == ("published", shown["id"])


def test_access_that_ends_while_a_post_is_processed_does_not_call_it_failed(
    api: ApiClient, server: FakeTikTok, account: ConnectedAccount, film: dict[str, Any], clock: Any
) -> None:
    server.process_posts(2)
    group = post_media(api, account, film)
    publish_due()
    server.withdraw("alice")

    publish_rounds(clock)

    assert ended(api, group)["status"] == "unconfirmed"
    assert api.get(f"/accounts/{account.id}/status").json()["account"]["status"] == "needs_reauth"


def test_rotating_tokens_are_refreshed_within_the_attempt_and_stored(
    api: ApiClient, server: FakeTikTok, account: ConnectedAccount, film: dict[str, Any], clock: Any
) -> None:
    for _ in range(2):
        clock.shift(7200)
        group = post_media(api, account, film)
        publish_rounds(clock)
        assert (ended(api, group)["status"], ended(api, group)["attempts"]) == ("published", 1)

    kept = ConnectedAccount.objects.get(pk=account.pk).grant().tokens
    assert [kept["refresh_token"]] == server.refresh_tokens("alice")
