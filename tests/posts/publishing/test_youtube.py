"""Publishing to YouTube end to end: the video is published once whatever fails, and the outcome is always reported."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

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
from tests.fakes.youtube import ASK, LAST, OPEN, PIECE, VIDEOS, FakeYouTube
from tests.fakes.youtube_oauth import CLIENT_ID, CLIENT_SECRET
from tests.media.video_files import box, movie
from tests.posts.publishing.steps import begin, take_up
from tests.posts.rows import create, publish_rounds, read
from workspaces.models import Workspace

FILM = movie(tail=box(b"free", bytes(9 * 1024 * 1024)))


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeYouTube]:
    with FakeYouTube() as running:
        running.register_redirect(f"{project.BASE_URL}/dashboard/connect/callback")
        running.add_channel("alice")
        settings.PLATFORM_SETTINGS = {
            "YOUTUBE_CLIENT_ID": CLIENT_ID,
            "YOUTUBE_CLIENT_SECRET": CLIENT_SECRET,
            "YOUTUBE_API_BASE": running.url,
            "YOUTUBE_AUTH_BASE": running.url,
        }
        yield running


@pytest.fixture
def account(api: ApiClient, workspace: Workspace, server: FakeYouTube, clock: Any) -> ConnectedAccount:
    begun = api.post("/accounts/connect", {"workspace_id": workspace.id, "platform": "youtube"}).json()
    code = server.grant(begun["authorization_url"], "alice")
    answer = api.get(f"/accounts/oauth/callback?state={begun['state']}&code={code.replace('/', '%2F')}")
    assert answer.status_code == 200, answer.content
    return ConnectedAccount.objects.get(pk=answer.json()["account"]["id"])


@pytest.fixture(autouse=True)
def _books_balance(db: None) -> Any:
    yield
    assert billing.drift() == []


@pytest.fixture
def film(api: ApiClient) -> dict[str, Any]:
    """A two-chunk video, uploaded as MEDIA."""
    answer = api.upload(FILM, filename="A film.mp4")
    assert answer.status_code == 201, answer.content
    return dict(answer.json()["media"])


def post_film(api: ApiClient, account: ConnectedAccount, film: dict[str, Any], **options: Any) -> dict[str, Any]:
    target = {"platform": "youtube", "connected_account_id": account.id, "options": options}
    return create(api, account, text="A film\nabout a lathe", targets=[target], media=[{"media_id": film["id"]}])


def ended(api: ApiClient, group: dict[str, Any]) -> dict[str, Any]:
    [target] = read(api, group)["targets"]
    return dict(target)


def test_a_video_is_published_and_processed(
    api: ApiClient, server: FakeYouTube, account: ConnectedAccount, film: dict[str, Any], clock: Any
) -> None:
    server.process_videos(looks=2)
    group = post_film(api, account, film, title="The film", privacy_status="unlisted")
    publish_due()
    assert ended(api, group)["status"] == "processing"
    assert "upload_id" not in str(PostTarget.objects.get().progress)

    publish_rounds(clock)

    target, [shown] = ended(api, group), server.videos("alice")
    assert (target["status"], target["attempts"], target["error"]) == ("published", 1, None)
    assert target["permalink"] == f"https://www.youtube.com/watch?v={shown['id']}"
    assert (shown["title"], shown["status"]["privacyStatus"]) == ("The film", "unlisted")
    assert hashlib.sha256(shown["content"]).hexdigest() == film["sha256"]


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("call", [OPEN, ASK, PIECE, LAST, VIDEOS])
def test_an_answer_that_is_lost_makes_no_second_video(
    api: ApiClient,
    server: FakeYouTube,
    account: ConnectedAccount,
    film: dict[str, Any],
    clock: Any,
    call: str,
    taken: bool,
) -> None:
    group = post_film(api, account, film)
    server.drop_next(call, after_accept=taken)

    publish_rounds(clock)

    [shown] = server.videos("alice")
    assert (ended(api, group)["status"], ended(api, group)["external_id"]) == ("published", shown["id"])
    assert hashlib.sha256(shown["content"]).hexdigest() == film["sha256"]


@pytest.mark.parametrize("phase", ["start", "upload", "finish", "process"])
def test_a_worker_that_dies_after_a_step_leaves_it_to_the_next(
    api: ApiClient, server: FakeYouTube, account: ConnectedAccount, film: dict[str, Any], clock: Any, phase: str
) -> None:
    group = post_film(api, account, film)
    worker = take_up()
    while True:
        begin(worker)
        content = Content(worker.id, worker.shown_text, worker.options, 1, adapter_media_files(worker.group))
        step = Progress(worker.phase, worker.progress)
        following = publisher("youtube", sandbox=False).publish(account.grant(), content, step)
        if worker.phase == phase:
            break
        assert isinstance(following, Progress)
        outcomes.advance(worker, Progress(following.phase, following.state))
    clock.shift(LEASE)

    publish_rounds(clock)

    [shown] = server.videos("alice")
    assert (ended(api, group)["status"], ended(api, group)["external_id"]) == ("published", shown["id"])


def test_an_expired_upload_session_becomes_unconfirmed(
    api: ApiClient, server: FakeYouTube, account: ConnectedAccount, film: dict[str, Any], clock: Any
) -> None:
    group = post_film(api, account, film)
    server.drop_next(LAST)
    publish_due()
    server.forget_sessions()

    publish_rounds(clock)

    target = ended(api, group)
    assert (target["status"], target["error"]["code"]) == ("unconfirmed", "PUBLISH_OUTCOME_UNKNOWN")
    assert len(server.videos("alice")) == 1


def test_access_that_ends_while_a_video_is_processed_does_not_call_it_failed(
    api: ApiClient, server: FakeYouTube, account: ConnectedAccount, film: dict[str, Any], clock: Any
) -> None:
    server.process_videos(looks=2)
    group = post_film(api, account, film)
    publish_due()
    server.withdraw("alice")

    publish_rounds(clock)

    assert ended(api, group)["status"] == "unconfirmed"
    assert api.get(f"/accounts/{account.id}/status").json()["account"]["status"] == "needs_reauth"
    assert len(server.videos("alice")) == 1


def test_a_quota_that_is_used_up_is_waited_for(
    api: ApiClient, server: FakeYouTube, account: ConnectedAccount, film: dict[str, Any], clock: Any
) -> None:
    group = post_film(api, account, film)
    server.use_up_quota()
    publish_due()
    waiting = ended(api, group)
    assert (waiting["status"], waiting["error"]["code"]) == ("retrying", "PLATFORM_RATE_LIMITED")
    assert waiting["next_attempt_at"] == "2027-03-11T08:01:00Z"  # midnight in California, and a minute

    server.new_day()
    publish_rounds(clock)

    assert (ended(api, group)["status"], len(server.videos("alice"))) == ("published", 1)
