"""Publishing to X end to end: unknown outcomes are searched for, threads resume, and single-use refresh tokens are stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings

from accounts.models import ConnectedAccount
from accounts.platforms.x.adapter import X
from billing import selectors as billing
from posts.publishing.engine import LEASE
from tests.conftest import ApiClient
from tests.factories import AccountFactory
from tests.fakes.x import FakeX
from tests.fakes.x_methods import CREATE, TIMELINE
from tests.fakes.x_oauth import CLIENT_ID, CLIENT_SECRET
from tests.posts.publishing.steps import begin, do, take_first_step, take_up
from tests.posts.rows import create, publish_rounds, read
from workspaces.models import Workspace

REDIRECT_URI = "https://service.example/dashboard/connect/callback"


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeX]:
    with FakeX() as running:
        running.register_redirect(REDIRECT_URI)
        running.add_person("alice")
        settings.PLATFORM_SETTINGS = {
            "X_CLIENT_ID": CLIENT_ID,
            "X_CLIENT_SECRET": CLIENT_SECRET,
            "X_API_BASE": running.url,
            "X_AUTH_BASE": running.url,
        }
        yield running


@pytest.fixture
def account(workspace: Workspace, server: FakeX, clock: Any) -> ConnectedAccount:
    authorization = X().authorize(state="s", redirect_uri=REDIRECT_URI, given={})
    code = server.grant(authorization.url, "alice")
    [connection] = X().exchange(code=code, redirect_uri=REDIRECT_URI, stored=authorization.stored)
    return AccountFactory(
        workspace=workspace,
        platform="x",
        method="oauth",
        sandbox=False,
        external_id=connection.grant.external_id,
        credentials={},
        tokens=dict(connection.grant.tokens),
    )


@pytest.fixture(autouse=True)
def _books_balance(db: None) -> Any:
    yield
    assert billing.drift() == []


def post_thread(api: ApiClient, account: ConnectedAccount, *texts: str) -> dict[str, Any]:
    first, *further = texts
    target = {
        "platform": "x",
        "connected_account_id": account.id,
        "options": {"thread": [{"text": text} for text in further]} if further else {},
    }
    return create(api, account, text=first, targets=[target])


def texts_of(server: FakeX) -> list[str]:
    return [made["text"] for made in server.posts("alice")]


def test_after_a_lost_response_x_is_searched_and_the_post_is_published_once(
    api: ApiClient, server: FakeX, account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, account, text="Fish & chips < 5")
    server.drop_next(CREATE)

    publish_rounds(clock)

    [target] = read(api, group)["targets"]
    [made] = server.posts("alice")
    assert (target["status"], target["external_id"], target["attempts"]) == ("published", made["id"], 2)
    assert target["permalink"] == f"https://x.com/alice/status/{made['id']}"
    assert (server.requests_to(CREATE), server.posts_read) == (1, 1)


def test_a_post_that_x_did_not_take_is_sent_again_when_it_cannot_appear_any_more(
    api: ApiClient, server: FakeX, account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, account, text="Hello")
    server.fail_next(CREATE, 503)

    publish_rounds(clock)

    assert read(api, group)["status"] == "published"
    assert texts_of(server) == ["Hello"]
    assert (server.requests_to(CREATE), server.requests_to(TIMELINE), server.posts_read) == (2, 2, 0)


@pytest.mark.parametrize("segment", [1, 2, 3])
def test_a_thread_continues_after_a_lost_response(
    api: ApiClient, server: FakeX, account: ConnectedAccount, clock: Any, segment: int
) -> None:
    group = post_thread(api, account, "One", "Two", "Three")
    for _ in range(segment - 1):
        server.hold_next(CREATE).set()  # these go through
    server.drop_next(CREATE)

    publish_rounds(clock)

    [target] = read(api, group)["targets"]
    assert texts_of(server) == ["One", "Two", "Three"]
    assert (target["status"], target["external_id"]) == ("published", server.posts("alice")[0]["id"])
    assert server.requests_to(CREATE) == 3


def test_a_worker_that_dies_in_a_thread_leaves_it_to_the_next(
    api: ApiClient, server: FakeX, account: ConnectedAccount, clock: Any
) -> None:
    group = post_thread(api, account, "One", "Two")
    worker = take_up()
    take_first_step(worker)
    begin(worker)
    do(worker)
    clock.shift(LEASE)

    publish_rounds(clock)

    assert read(api, group)["status"] == "published"
    assert texts_of(server) == ["One", "Two"]


def test_a_thread_that_x_refuses_in_the_middle_is_not_restarted(
    api: ApiClient, server: FakeX, account: ConnectedAccount, clock: Any
) -> None:
    group = post_thread(api, account, "One", "Two")
    server.refuse_replies()

    publish_rounds(clock)

    [target] = read(api, group)["targets"]
    assert (target["status"], target["error"]["code"]) == ("unconfirmed", "PUBLISH_OUTCOME_UNKNOWN")
    assert target["error"]["message"].startswith(
        "Segment 1 was published; segment 2 was not: X does not take this post"
    )
    answer = api.post(f"/posts/{group['id']}/retry", {"include_unconfirmed": True})
    assert answer.status_code == 200, answer.content
    publish_rounds(clock)
    assert texts_of(server) == ["One"]


def test_expired_tokens_are_refreshed_within_the_attempt_and_stored(
    api: ApiClient, server: FakeX, account: ConnectedAccount, clock: Any
) -> None:
    for number in range(3):
        clock.shift(7200)
        group = create(api, account, text=f"Hello {number}")
        publish_rounds(clock)
        assert read(api, group)["targets"][0]["attempts"] == 1

    kept = ConnectedAccount.objects.get(pk=account.pk).grant().tokens
    assert [kept["refresh_token"]] == server.refresh_tokens("alice")
    assert len(server.posts("alice")) == 3


def test_two_posts_of_the_same_words_are_not_taken_for_each_other(
    api: ApiClient, server: FakeX, account: ConnectedAccount, clock: Any
) -> None:
    first, second = (create(api, account, text="Hello") for _ in range(2))

    publish_rounds(clock)

    states = sorted(read(api, group)["status"] for group in (first, second))
    assert states == ["published", "unconfirmed"]
    assert texts_of(server) == ["Hello"]
