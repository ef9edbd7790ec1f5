"""Publishing to Threads end to end: media that Threads fetches, unknown outcomes, resumed threads, and posts without a
permalink.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from billing import selectors as billing
from posts.publishing.engine import LEASE
from tests.accounts.oauth_calls import Granted, begin, complete
from tests.conftest import ApiClient
from tests.fakes.http_server import Answer
from tests.fakes.threads import MAKE, PUBLISH, SHOW, FakeThreads
from tests.fakes.threads_oauth import CLIENT_ID, CLIENT_SECRET
from tests.media.pictures import jpeg, png
from tests.posts.publishing import steps
from tests.posts.rows import publish_rounds, read, the_target
from workspaces.models import Workspace


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeThreads]:
    with FakeThreads() as running:
        running.register_redirect(settings.BASE_URL + reverse("connect-callback"))
        running.add_profile("alice")
        settings.PLATFORM_SETTINGS = {
            "THREADS_CLIENT_ID": CLIENT_ID,
            "THREADS_CLIENT_SECRET": CLIENT_SECRET,
            "THREADS_API_BASE": running.url,
            "THREADS_AUTH_BASE": running.url,
        }
        yield running


@pytest.fixture
def account(api: ApiClient, workspace: Workspace, server: FakeThreads, clock: Any) -> str:
    """The id of the connected profile."""
    begun = begin(api, workspace, platform="threads").json()
    brought = Granted(begun["state"], server.grant(begun["authorization_url"], "alice"))
    connected = complete(api, brought).json()["account"]
    assert (connected["handle"], connected["token_expires_at"]) == ("alice", "2027-05-09T12:00:00Z")
    return str(connected["id"])


@pytest.fixture(autouse=True)
def _books_balance(db: None) -> Any:
    yield
    assert billing.drift() == []


def post(api: ApiClient, account_id: str, *texts: str, media: list[str] | None = None) -> dict[str, Any]:
    options = {"thread": [{"text": text} for text in texts[1:]]} if texts[1:] else {}
    target = {"platform": "threads", "connected_account_id": account_id, "options": options}
    body = {"text": texts[0], "targets": [target], "media": [{"media_id": each} for each in media or []]}
    answer = api.post("/posts", body)
    assert answer.status_code == 201, answer.content
    return dict(answer.json()["post_group"])


def target_of(api: ApiClient, group: dict[str, Any]) -> dict[str, Any]:
    [target] = read(api, group)["targets"]
    return dict(target)


def texts_of(server: FakeThreads) -> list[str]:
    return [made["text"] for made in server.posts("alice")]


def test_a_carousel_is_fetched_by_threads_from_addresses_that_need_no_key(
    api: ApiClient, server: FakeThreads, account: str, clock: Any
) -> None:
    files, asked = [jpeg(), png()], []

    def fetch(url: str) -> bytes:
        asked.append(url)
        return files[len(asked) - 1]

    server.fetch_by(fetch)
    server.process(looks=2)
    media = [api.upload(content, filename="a.jpg", alt_text="A bench").json()["media"]["id"] for content in files]
    group = post(api, account, "Two pictures", media=media)

    publish_rounds(clock)

    target, [made] = target_of(api, group), server.posts("alice")
    assert (target["status"], target["attempts"], target["external_id"]) == ("published", 1, made["id"])
    assert target["permalink"] == f"https://www.threads.com/@alice/post/{made['id']}"
    assert [alt_text for _, _, alt_text in made["media"]] == ["A bench", "A bench"]
    for url, content in zip(asked, files, strict=True):
        parts = urlsplit(url)
        answer = Client().get(f"{parts.path}?{parts.query}")
        assert b"".join(answer.streaming_content) == content  # type: ignore[attr-defined]


@pytest.mark.parametrize("sent", [True, False])
def test_a_worker_that_dies_while_it_publishes_leaves_it_to_the_next(
    api: ApiClient, server: FakeThreads, account: str, clock: Any, sent: bool
) -> None:
    group = post(api, account, "Hello")
    worker = steps.take_up()
    while (worker.phase or "start") != "publish":
        steps.take_first_step(worker)
    steps.begin(worker)
    if sent:
        steps.do(worker)
    clock.shift(LEASE)

    publish_rounds(clock)

    target = target_of(api, group)
    assert (target["status"], target["external_id"]) == ("published", server.posts("alice")[0]["id"])
    assert texts_of(server) == ["Hello"]


@pytest.mark.parametrize("segment", [1, 2, 3])
@pytest.mark.parametrize("taken", [True, False])
def test_a_thread_continues_after_a_lost_response(
    api: ApiClient, server: FakeThreads, account: str, clock: Any, segment: int, taken: bool
) -> None:
    group = post(api, account, "One", "Two", "Three")
    for _ in range(segment - 1):
        server.hold_next(PUBLISH).set()  # these go through
    server.drop_next(PUBLISH, after_accept=taken)

    publish_rounds(clock)

    target, made = target_of(api, group), server.posts("alice")
    assert [each["text"] for each in made] == ["One", "Two", "Three"]
    assert [each["reply_to"] for each in made] == [None, made[0]["id"], made[1]["id"]]
    assert (target["status"], target["external_id"]) == ("published", made[0]["id"])


def test_a_retry_continues_at_the_segment_that_threads_refused(
    api: ApiClient, server: FakeThreads, account: str, clock: Any
) -> None:
    group = post(api, account, "One", "Two")
    server.hold_next(MAKE).set()  # the first goes through
    server.refuse_next(MAKE, Answer.of_json({"error": {"code": 100, "message": "The text is odd."}}, 400))

    publish_rounds(clock)

    target = target_of(api, group)
    assert target["status"] == "unconfirmed"
    assert target["error"]["message"].startswith(
        "Segment 1 was published; segment 2 was not: Threads does not take this post"
    )
    answer = api.post(f"/posts/{group['id']}/retry", {"include_unconfirmed": True})
    assert answer.status_code == 200, answer.content
    publish_rounds(clock)
    assert target_of(api, group)["status"] == "published"
    assert texts_of(server) == ["One", "Two"]


def test_a_post_whose_address_cannot_be_asked_for_is_published_once(
    api: ApiClient, server: FakeThreads, account: str, clock: Any
) -> None:
    group = post(api, account, "Hello")
    server.hold_next(SHOW).set()  # the container's status
    server.fail_next(SHOW, 503, times=20)

    publish_rounds(clock)

    target, [made] = target_of(api, group), server.posts("alice")
    assert (target["status"], target["external_id"], target["permalink"]) == ("published", made["id"], "")
    assert target["error"]["code"] == "PUBLISHED_INCOMPLETE"
    assert the_target(group).phase == "permalink"


def test_a_stale_token_asks_for_the_owner(api: ApiClient, server: FakeThreads, account: str, clock: Any) -> None:
    group = post(api, account, "Hello")
    server.withdraw("alice")

    publish_rounds(clock)

    assert target_of(api, group)["error"]["code"] == "ACCOUNT_NEEDS_REAUTH"
    assert texts_of(server) == []
