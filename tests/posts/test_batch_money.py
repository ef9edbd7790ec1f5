"""The money of a batch is held for all of its posts, or for none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models import Sum

from accounts.models import ConnectedAccount
from billing import selectors as billing
from billing.models import DayCounter, MonthCounter
from posts.models import PostGroup
from tests import factories
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.factories import AccountFactory
from tests.in_threads import in_threads
from tests.posts.calls import assert_nothing_written, batch
from tests.posts.rows import TOMORROW, body_for
from workspaces.models import Workspace

LATER = "2027-04-02T12:00:00Z"


def test_the_money_of_each_post_is_held_in_its_month(
    api: ApiClient, workspace: Workspace, telegram_account: ConnectedAccount, clock: Any
) -> None:
    x = AccountFactory(workspace=workspace, platform="x", sandbox=False)
    batch(
        api,
        body_for(telegram_account, x, scheduled_at=LATER),
        body_for(x),
        body_for(telegram_account, scheduled_at=TOMORROW),
        body_for(x, draft=True),
    )

    months = MonthCounter.objects.filter(holder_id=workspace.id).order_by("month")
    assert [(row.month.month, row.held_cents) for row in months] == [(3, 3), (4, 3)]
    assert billing.find_wrong_month_counters() == []


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize(
    ("limits", "free", "status", "code"),
    [
        ({}, 2, 402, "SPEND_CAP_EXCEEDED"),
        ({"monthly_spend_cap_cents": 2}, 100, 402, "SPEND_CAP_EXCEEDED"),
        ({"posts_per_day_cap": 2}, 100, 429, "POSTS_PER_DAY_CAP_EXCEEDED"),
    ],
)
def test_caps_count_all_posts_together_also_in_a_dry_run(
    agent_client: Any,
    telegram_account: ConnectedAccount,
    clock: Any,
    limits: dict[str, int],
    free: int,
    status: int,
    code: str,
    dry_run: bool,
) -> None:
    Workspace.objects.update(free_monthly_credit_cents=free)
    client = agent_client(**limits)
    three = [body_for(telegram_account, text=f"{n}", scheduled_at=TOMORROW) for n in range(3)]

    assert_envelope(batch(client, *three, dry_run=dry_run, key="k"), status, code)

    assert_nothing_written()
    assert batch(client, *three[:2], dry_run=dry_run).status_code == 201


def test_posts_of_another_month_and_day_do_not_count(
    agent_client: Any, telegram_account: ConnectedAccount, clock: Any
) -> None:
    Workspace.objects.update(free_monthly_credit_cents=1)
    client = agent_client(posts_per_day_cap=1)
    posts = [body_for(telegram_account, scheduled_at=at) for at in (LATER, TOMORROW)]

    for dry_run in (True, False):
        assert batch(client, *posts, dry_run=dry_run).status_code == 201
    assert_envelope(batch(client, *posts), 402, "SPEND_CAP_EXCEEDED")
    assert billing.find_wrong_month_counters() == []


def test_a_dry_run_is_refused_like_the_call(api: ApiClient, telegram_account: ConnectedAccount) -> None:
    Workspace.objects.update(free_monthly_credit_cents=1)
    posts = [body_for(telegram_account), body_for(telegram_account)]

    errors = [assert_envelope(batch(api, *posts, dry_run=dry), 402, "SPEND_CAP_EXCEEDED") for dry in (True, False)]

    assert {**errors[0], "trace_id": ""} == {**errors[1], "trace_id": ""}


@pytest.mark.django_db(transaction=True)
def test_concurrent_batches_near_the_cap_are_accepted_whole_or_not_at_all(
    api: ApiClient, workspace: Workspace, telegram_account: ConnectedAccount, clock: Any
) -> None:
    Workspace.objects.update(free_monthly_credit_cents=5)
    at = (LATER, TOMORROW)

    def send(n: int) -> int:
        times = at if n % 2 else at[::-1]  # in either order: they must not wait for each other's months
        posts = [body_for(telegram_account, text=f"{n} {when}", scheduled_at=when) for when in times for _ in range(2)]
        return int(batch(api, *posts).status_code)

    statuses = in_threads(8, send)

    assert sorted(statuses) == [201] * 2 + [402] * 6
    assert [row.held_cents for row in MonthCounter.objects.order_by("month")] == [4, 4]
    assert PostGroup.objects.count() == 8
    assert billing.find_wrong_month_counters() == []


def test_a_batch_of_an_agent_for_a_hundred_days_makes_all_counters(
    workspace: Workspace, telegram_account: ConnectedAccount, clock: Any
) -> None:
    agent = factories.AgentFactory(workspace=workspace)
    days = [f"{datetime(2027, 3, 11, 12, tzinfo=UTC) + timedelta(days=number):%Y-%m-%dT%H:%M:%SZ}" for number in range(100)]

    answer = batch(
        ApiClient(factories.agent_key(agent)),
        *(body_for(telegram_account, text=f"Day {day}", scheduled_at=day) for day in days),
    )

    assert answer.status_code == 201, answer.content
    assert DayCounter.objects.filter(agent_id=agent.id, targets=1).count() == 100
    assert MonthCounter.objects.filter(holder_id=agent.id).aggregate(held=Sum("held_cents"))["held"] > 0
