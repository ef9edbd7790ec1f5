"""PATCH /posts/{id}: changes of the money held."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import ConnectedAccount
from billing import selectors as billing
from billing.models import DayCounter, LedgerEntry, MonthCounter
from config.jobs.claims import claim_due
from posts.models import PostTarget
from posts.publishing.attempts import LEASE
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.factories import AccountFactory
from tests.posts.calls import group_in, patch, targets_for
from tests.posts.publishing.worker import publish_claimed, run_until_idle
from tests.posts.rows import TOMORROW, create, kinds_of, read
from workspaces.models import Workspace

WAITS = {"default_mode": "requires_confirmation"}
LATER, APRIL = "2027-03-12T12:00:00Z", "2027-04-02T12:00:00Z"


def held() -> dict[tuple[str, int], int]:
    """Cents held, by holder and month."""
    return {(row.holder_id, row.month.month): row.held_cents for row in MonthCounter.objects.all() if row.held_cents}


@pytest.fixture
def x_account(workspace: Workspace) -> ConnectedAccount:
    """A real account whose posts cost 2 cents."""
    account: ConnectedAccount = AccountFactory(workspace=workspace, platform="x", sandbox=False)
    return account


def test_an_edit_moves_the_hold_to_the_new_amount_and_month(
    api: ApiClient, workspace: Workspace, telegram_account: ConnectedAccount, x_account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, telegram_account, scheduled_at=TOMORROW)
    assert held() == {(workspace.id, 3): 1}

    assert group_in(patch(api, group, targets=targets_for(telegram_account, x_account)))["cost_cents"] == 3
    assert held() == {(workspace.id, 3): 3}
    group_in(patch(api, group, scheduled_at=APRIL))
    assert held() == {(workspace.id, 4): 3}
    group_in(patch(api, group, targets=targets_for(x_account)))
    assert held() == {(workspace.id, 4): 2}
    api.delete(f"/posts/{group['id']}")
    assert held() == {}
    assert billing.find_wrong_month_counters() == []


@pytest.mark.parametrize("made", [{"draft": True}, {}])
def test_a_group_that_is_not_released_holds_no_money(
    api: ApiClient, agent_client: Any, telegram_account: ConnectedAccount, clock: Any, made: dict[str, Any]
) -> None:
    Workspace.objects.update(free_monthly_credit_cents=0)
    group = create(agent_client(**WAITS), telegram_account, **made)

    edited = group_in(patch(api, group, text="Better", scheduled_at=TOMORROW))

    assert (edited["scheduled_at"], edited["targets"][0]["next_attempt_at"]) == (TOMORROW, None)
    assert not LedgerEntry.objects.exists()
    clock.move_to(TOMORROW)
    assert run_until_idle() == 0


@pytest.mark.parametrize("dry_run", [True, False])
def test_only_the_added_cost_of_an_edit_counts_for_the_caps(
    api: ApiClient,
    agent_client: Any,
    telegram_account: ConnectedAccount,
    x_account: ConnectedAccount,
    clock: Any,
    dry_run: bool,
) -> None:
    Workspace.objects.update(free_monthly_credit_cents=2)
    client = agent_client(monthly_spend_cap_cents=2, posts_per_day_cap=1)
    group = create(client, x_account, scheduled_at=TOMORROW)
    both = targets_for(telegram_account, x_account)

    assert_envelope(patch(client, group, targets=both, dry_run=dry_run), 402, "SPEND_CAP_EXCEEDED")
    assert read(api, group) == group
    assert patch(client, group, text="Better", scheduled_at=LATER, dry_run=dry_run).status_code == 200
    assert patch(client, group, targets=targets_for(telegram_account), dry_run=dry_run).status_code == 200
    Workspace.objects.update(free_monthly_credit_cents=9)
    assert_envelope(patch(api, group, targets=both, dry_run=dry_run), 402, "SPEND_CAP_EXCEEDED")
    assert billing.find_wrong_month_counters() == []


def test_a_post_can_leave_a_full_day_but_not_move_to_one(
    agent_client: Any, telegram_account: ConnectedAccount, clock: Any
) -> None:
    client = agent_client(posts_per_day_cap=1)
    first = create(client, telegram_account, text="One", scheduled_at=TOMORROW)
    second = create(client, telegram_account, text="Two", scheduled_at=LATER)

    for dry_run in (True, False):
        answer = patch(client, second, scheduled_at=TOMORROW, dry_run=dry_run)
        assert "retry-after" in answer
        assert_envelope(answer, 429, "POSTS_PER_DAY_CAP_EXCEEDED")
    group_in(patch(client, first, scheduled_at="2027-03-13T12:00:00Z"))
    group_in(patch(client, second, scheduled_at=TOMORROW))

    days = {row.day.day: row.targets for row in DayCounter.objects.all()}
    assert days == {11: 1, 12: 0, 13: 1}


def test_the_caps_of_the_editing_agent_apply(
    api: ApiClient, agent_client: Any, workspace: Workspace, telegram_account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, telegram_account, scheduled_at=TOMORROW)
    poor = agent_client(monthly_spend_cap_cents=0)

    for dry_run in (True, False):
        assert_envelope(patch(poor, group, text="Better", dry_run=dry_run), 402, "SPEND_CAP_EXCEEDED")
    assert (read(api, group), held()) == (group, {(workspace.id, 3): 1})


def test_an_edit_by_an_agent_that_needs_confirmation_needs_approval_again(
    api: ApiClient, agent_client: Any, workspace: Workspace, telegram_account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, telegram_account, scheduled_at=TOMORROW)
    agent = agent_client(**WAITS)
    preview = patch(agent, group, text="Better", dry_run=True).json()["would_update"]

    edited = group_in(patch(agent, group, text="Better"))

    assert (edited["status"], edited["scheduled_at"]) == ("pending_confirmation", TOMORROW)
    assert edited["targets"][0]["next_attempt_at"] is None
    assert (edited, held()) == (preview, {})
    assert kinds_of(group) == ["post.scheduled", "post.pending_confirmation"]
    clock.move_to(TOMORROW)
    assert run_until_idle() == 0
    clock.move_to("2027-03-10T12:00:00Z")
    patch(agent, group, text="Best")
    assert kinds_of(group) == ["post.scheduled", "post.pending_confirmation"]
    assert api.post(f"/posts/{group['id']}/confirm", {"content_version": 3}).status_code == 200
    assert held() == {(workspace.id, 3): 1}
    assert billing.find_wrong_month_counters() == []


def test_a_claimed_target_keeps_its_text_and_its_hold(
    api: ApiClient, workspace: Workspace, telegram_account: ConnectedAccount, x_account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, telegram_account, x_account, scheduled_at="2027-03-10T12:00:00Z")
    [claimed] = claim_due(PostTarget.objects.filter(platform="telegram"), limit=1, lease=LEASE)

    edited = group_in(patch(api, group, text="Better"))

    assert (edited["text"], [each["text"] for each in edited["targets"]]) == ("Better", ["Hello", None])
    assert held() == {(workspace.id, 3): 3}
    left = group_in(patch(api, group, targets=targets_for(telegram_account)))
    assert ([each["status"] for each in left["targets"]], held()) == (["pending", "cancelled"], {(workspace.id, 3): 1})
    publish_claimed(claimed)
    assert read(api, group)["targets"][0]["status"] == "published"


def test_an_edited_sandbox_post_stays_a_sandbox_post(
    api: ApiClient, telegram_account: ConnectedAccount, x_account: ConnectedAccount, clock: Any
) -> None:
    group = create(api, telegram_account, sandbox=True, scheduled_at=TOMORROW)

    edited = group_in(patch(api, group, targets=targets_for(x_account)))

    assert (edited["sandbox"], edited["cost_cents"], held()) == (True, 0, {})
