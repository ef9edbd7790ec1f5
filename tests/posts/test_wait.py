"""`wait: true` delays the response until the group is finished, for a limited time and only if waiting can help."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import ConnectedAccount
from config.api.request_limits import WebThreadLimit
from posts.models import PostGroup, PostTarget
from posts.services import wait as waiting
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import body_for, create
from workspaces.models import Workspace

LONG = 30  # seconds; a test that really waits as long has failed


@pytest.fixture(autouse=True)
def _long_wait(settings: Any) -> None:
    settings.WAIT_SECONDS = LONG


def publish_when_it_is_due() -> Any:
    """Publish the first target that becomes due."""
    before = attempts()
    while attempts() == before:
        run_until_idle()


def attempts() -> int:
    return sum(PostTarget.objects.values_list("attempts", flat=True))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("key", [{}, {"idempotency_key": "k"}])
def test_the_response_is_sent_when_the_group_is_finished(
    api: ApiClient, accounts: list[ConnectedAccount], key: dict[str, str]
) -> None:
    body = body_for(*accounts, texts=["[sandbox:reject]"], wait=True)
    answer, _ = in_threads(2, lambda n: publish_when_it_is_due() if n else api.post("/posts", body, **key))

    group = answer.json()["post_group"]
    assert (answer.status_code, group["status"]) == (201, "partial")
    assert group["finished_at"] is not None


@pytest.mark.django_db(transaction=True)
def test_targets_of_a_later_time_are_not_waited_for(api: ApiClient, accounts: list[ConnectedAccount]) -> None:
    body = body_for(*accounts[:2], wait=True)
    body["targets"][1]["scheduled_at"] = (timezone.now() + timedelta(days=1)).isoformat()
    started = time.monotonic()

    answer, _ = in_threads(2, lambda n: publish_when_it_is_due() if n else api.post("/posts", body))

    assert [each["status"] for each in answer.json()["post_group"]["targets"]] == ["published", "pending"]
    assert time.monotonic() - started < LONG / 2


@pytest.mark.django_db(transaction=True)
def test_a_retry_can_wait(api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account, text="[sandbox:reject]")
    run_until_idle()

    path = f"/posts/{group['id']}/retry"
    answer, _ = in_threads(2, lambda n: publish_when_it_is_due() if n else api.post(path, {"wait": True}))

    assert (answer.status_code, answer.json()["post_group"]["status"]) == (200, "failed")
    assert answer.json()["post_group"]["targets"][0]["attempts"] == 2


def test_after_the_time_limit_the_unfinished_group_is_returned(
    api: ApiClient, account: ConnectedAccount, settings: Any
) -> None:
    settings.WAIT_SECONDS = 0.05

    assert create(api, account, wait=True)["status"] == "publishing"


@pytest.mark.parametrize("fields", [{"draft": True}, {"scheduled_at": "2027-03-10T12:01:00Z"}], ids=["draft", "scheduled"])
def test_wait_returns_at_once_for_a_later_schedule(
    api: ApiClient, account: ConnectedAccount, clock: Any, fields: dict[str, Any]
) -> None:
    started = time.monotonic()

    create(api, account, wait=True, **fields)

    assert time.monotonic() - started < LONG / 2


def test_wait_returns_at_once_for_posts_that_need_a_person(agent_client: Any, account: ConnectedAccount) -> None:
    started = time.monotonic()

    group = create(agent_client(default_mode="requires_confirmation"), account, wait=True)

    assert group["status"] == "pending_confirmation"
    assert time.monotonic() - started < LONG / 2


def test_at_most_half_of_the_threads_wait(api: ApiClient, account: ConnectedAccount, monkeypatch: pytest.MonkeyPatch) -> None:
    share = WebThreadLimit(1)
    monkeypatch.setattr(waiting, "waiting_thread_limit", share)
    started = time.monotonic()
    with share.hold_thread():
        assert create(api, account, wait=True)["status"] == "publishing"

    assert time.monotonic() - started < LONG / 2
    assert share.try_acquire_thread()  # and a thread that was taken is free again


def test_a_replay_does_not_wait(api: ApiClient, account: ConnectedAccount, settings: Any) -> None:
    body = body_for(account)
    api.post("/posts", body, idempotency_key="k")
    started = time.monotonic()

    again = api.post("/posts", {**body, "wait": True}, idempotency_key="k")

    assert again.json()["post_group"]["status"] == "publishing"
    assert time.monotonic() - started < LONG / 2


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_open_while_waiting(api: ApiClient, account: ConnectedAccount, settings: Any) -> None:
    """Another connection can read and write the group while the request waits."""
    seen = threading.Event()

    def read_and_write(n: int) -> Any:
        if n == 0:
            return api.post("/posts", body_for(account, wait=True), idempotency_key="k").json()["post_group"]["status"]
        while not PostGroup.objects.filter(status="publishing").exists():
            pass
        Workspace.objects.update(name="Renamed")
        seen.set()
        return run_until_idle()

    assert in_threads(2, read_and_write) == ["published", 1]
    assert seen.is_set()
