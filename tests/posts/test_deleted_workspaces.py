"""Unfinished posts of deleted workspaces are cancelled."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import ConnectedAccount
from billing.models import MonthCounter
from posts import tasks
from posts.models import PostGroup, PostTarget
from posts.services.cancel import cancel_posts_of_deleted_workspaces
from tests import factories
from tests.conftest import ApiClient
from tests.in_threads import in_threads
from tests.posts.publishing.worker import run_until_idle
from tests.posts.rows import TOMORROW, create, kinds_of
from tests.posts.scripted_platform import ScriptedPlatform
from workspaces.models import Workspace


def delete(workspace: Workspace) -> None:
    Workspace.objects.filter(pk=workspace.pk).update(status="deleted")


def held_cents() -> int:
    return MonthCounter.objects.get().held_cents


def test_targets_that_have_not_started_are_cancelled_and_their_money_released(
    api: ApiClient, workspace: Workspace, telegram_account: ConnectedAccount, clock: Any
) -> None:
    scheduled = create(api, telegram_account, scheduled_at=TOMORROW)
    draft = create(api, telegram_account, draft=True)
    due = create(api, telegram_account)
    other_account = factories.AccountFactory()
    other_api = ApiClient(factories.workspace_key(other_account.workspace))
    other = create(other_api, other_account, scheduled_at=TOMORROW)
    assert held_cents() == 2
    assert tasks.cancel_posts_of_deleted_workspaces() == 0
    delete(workspace)

    assert [tasks.cancel_posts_of_deleted_workspaces() for _ in range(2)] == [3, 0]

    for group in (scheduled, draft, due):
        row = PostGroup.objects.get(pk=group["id"])
        assert (row.status, row.finished_at) == ("cancelled", timezone.now())
        assert [(target.status, target.due_at) for target in row.targets.all()] == [("cancelled", None)]
    assert held_cents() == 0
    assert kinds_of(scheduled) == ["post.scheduled", "post.cancelled"]
    assert PostGroup.objects.get(pk=other["id"]).status == "scheduled"


def test_a_group_that_awaits_a_person_is_cancelled(
    workspace: Workspace, agent_client: Any, telegram_account: ConnectedAccount
) -> None:
    group = create(agent_client(default_mode="requires_confirmation"), telegram_account)
    assert group["status"] == "pending_confirmation"
    delete(workspace)

    assert tasks.cancel_posts_of_deleted_workspaces() == 1
    assert PostGroup.objects.get().status == "cancelled"


def test_a_target_claimed_by_a_worker_is_not_cancelled(
    api: ApiClient, telegram_account: ConnectedAccount, accounts: list[ConnectedAccount], clock: Any
) -> None:
    group = create(api, telegram_account, accounts[0])
    in_hand = PostTarget.objects.filter(account=telegram_account)
    in_hand.update(lease_until=timezone.now() + timedelta(seconds=20))
    delete(telegram_account.workspace)

    assert [tasks.cancel_posts_of_deleted_workspaces() for _ in range(2)] == [1, 0]

    row = PostGroup.objects.get(pk=group["id"])
    assert (row.status, row.finished_at, held_cents()) == ("publishing", None, 1)
    assert in_hand.get().status == "pending"
    clock.shift(20)  # the worker died
    assert tasks.cancel_posts_of_deleted_workspaces() == 1
    row.refresh_from_db()
    assert (row.status, held_cents()) == ("cancelled", 0)


def test_a_started_target_is_ended_by_the_publisher_without_publishing(
    api: ApiClient, telegram_account: ConnectedAccount, scripted: type[ScriptedPlatform], clock: Any
) -> None:
    group = create(api, telegram_account)
    PostTarget.objects.update(status="retrying", attempts=1, round_attempts=1)
    delete(telegram_account.workspace)

    assert tasks.cancel_posts_of_deleted_workspaces() == 0
    assert PostGroup.objects.get(pk=group["id"]).status == "publishing"
    run_until_idle()

    target = PostTarget.objects.get()
    assert (target.status, target.group.status, held_cents()) == ("failed", "failed", 0)
    assert scripted.sent == []


def test_published_targets_stay_published(
    api: ApiClient, telegram_account: ConnectedAccount, accounts: list[ConnectedAccount], clock: Any
) -> None:
    group = create(api, telegram_account, accounts[0])
    PostTarget.objects.filter(account=accounts[0]).update(status="published", certainty="confirmed", due_at=None)
    delete(telegram_account.workspace)

    assert tasks.cancel_posts_of_deleted_workspaces() == 1

    row = PostGroup.objects.get(pk=group["id"])
    assert (row.status, held_cents()) == ("published", 0)
    assert {target.status for target in row.targets.all()} == {"published", "cancelled"}


def test_groups_are_cancelled_in_batches(api: ApiClient, workspace: Workspace, account: ConnectedAccount) -> None:
    for _ in range(5):
        create(api, account, draft=True)
    delete(workspace)

    assert cancel_posts_of_deleted_workspaces(batch=2) == 5


@pytest.mark.django_db(transaction=True)
def test_concurrent_runs_cancel_and_release_once(
    api: ApiClient, workspace: Workspace, telegram_account: ConnectedAccount
) -> None:
    groups = [create(api, telegram_account, scheduled_at=(timezone.now() + timedelta(days=1)).isoformat()) for _ in "abc"]
    delete(workspace)

    assert sum(in_threads(4, lambda _: cancel_posts_of_deleted_workspaces())) == 3
    assert held_cents() == 0
    assert [kinds_of(group) for group in groups] == [["post.scheduled", "post.cancelled"]] * 3
