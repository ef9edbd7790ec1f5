"""Repeated and concurrent requests with one idempotency key create one group, one hold and one event."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from billing.models import LedgerEntry, MonthCounter
from posts.models import PostGroup, PostTarget
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.people import as_user
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, body_for, create, kinds_of, read
from webhooks.models import Event
from workspaces.models import Member, User, Workspace


def test_a_replay_returns_the_groups_current_state(api: ApiClient, account: ConnectedAccount) -> None:
    body = body_for(account)
    first = api.post("/posts", body, idempotency_key="k")
    run_until_idle()

    again = api.post("/posts", body, idempotency_key="k")

    group = first.json()["post_group"]
    assert (again.status_code, again["idempotency-replayed"]) == (201, "true")
    assert "idempotency-request-differs" not in again
    assert again.json() == {"sandbox": True, "post_group": read(api, group)}
    assert again.json()["post_group"]["status"] == "published"
    assert PostGroup.objects.count() == 1


def test_a_used_key_with_another_body_is_refused(api: ApiClient, account: ConnectedAccount) -> None:
    group = api.post("/posts", body_for(account), idempotency_key="k").json()["post_group"]

    again = api.post("/posts", body_for(account, text="Another"), idempotency_key="k")

    assert (again.json()["post_group"]["id"], again["idempotency-request-differs"]) == (group["id"], "true")
    assert PostGroup.objects.count() == 1


def test_a_key_can_be_used_again_after_a_day(api: ApiClient, account: ConnectedAccount, clock: Any) -> None:
    api.post("/posts", body_for(account), idempotency_key="k")
    clock.shift(24 * 3600 - 1)
    api.post("/posts", body_for(account), idempotency_key="k")
    assert PostGroup.objects.count() == 1

    clock.shift(1)
    api.post("/posts", body_for(account), idempotency_key="k")

    assert PostGroup.objects.count() == 2


def test_a_refused_call_does_not_use_its_key(api: ApiClient, account: ConnectedAccount) -> None:
    assert_envelope(api.post("/posts", body_for(account, text=""), idempotency_key="k"), 422, "CONTENT_INVALID")

    assert "idempotency-replayed" not in api.post("/posts", body_for(account), idempotency_key="k")


@pytest.mark.django_db(transaction=True)
def test_fifty_concurrent_calls_with_one_key_create_one_group(
    api: ApiClient, workspace: Workspace, telegram_account: ConnectedAccount, clock: Any
) -> None:
    body = body_for(telegram_account, scheduled_at=TOMORROW, webhook_url="https://hooks.example.com/")

    answers = in_threads(50, lambda n: api.post("/posts", body, idempotency_key="k"))

    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["post_group"]["id"] for answer in answers}) == 1
    assert sum("idempotency-replayed" not in answer for answer in answers) == 1
    for model in (PostGroup, PostTarget, LedgerEntry, Event):
        assert model._default_manager.count() == 1
    assert MonthCounter.objects.get(holder_id=workspace.id).held_cents == 1


@pytest.mark.django_db(transaction=True)
def test_concurrent_retries_send_once(api: ApiClient, account: ConnectedAccount) -> None:
    group = create(api, account, text="[sandbox:reject]")
    run_until_idle()

    keyed = in_threads(10, lambda n: api.post(f"/posts/{group['id']}/retry", idempotency_key="k"))
    assert {answer.status_code for answer in keyed} == {200}
    assert run_until_idle() == 1
    free = in_threads(10, lambda n: api.post(f"/posts/{group['id']}/retry"))
    assert sorted(answer.status_code for answer in free) == [200] + [409] * 9
    assert run_until_idle() == 1

    assert read(api, group)["targets"][0]["attempts"] == 3
    assert kinds_of(group) == ["post.failed"] * 3


def test_a_user_who_left_the_workspace_gets_no_replay(
    workspace: Workspace, teammate: User, account: ConnectedAccount
) -> None:
    Member.objects.filter(user=teammate).update(role="admin")
    body = {**body_for(account), "workspace_id": workspace.id}
    assert as_user(teammate).post("/posts", body, idempotency_key="mine").status_code == 201
    assert as_user(teammate).post("/posts", body, idempotency_key="mine")["idempotency-replayed"] == "true"

    Member.objects.filter(user=teammate).delete()

    assert_envelope(as_user(teammate).post("/posts", body, idempotency_key="mine"), 404, "NOT_FOUND")
