from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
import time_machine
from django.db import IntegrityError, transaction
from pytest_django import DjangoAssertNumQueries

from billing import services
from billing.errors import PostsPerDayCapExceeded, SpendCapExceeded, UrlPostCapExceeded
from billing.models import LedgerEntry, MonthCounter
from config.api.fields import MAX_INT64
from tests.billing.holds import hold_costs
from tests.billing.rows import APRIL, MARCH, charges, day_of, make_agent, make_workspace, month_of
from tests.statements import statements

pytestmark = pytest.mark.django_db


def test_a_hold_changes_the_month_counter_and_the_ledger() -> None:
    workspace = make_workspace(url_cap=5)

    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1", "tgt_2", cents=20, url_posts=1), due=MARCH)

    assert month_of(workspace) == (40, 0, 2)
    first, second = LedgerEntry.objects.order_by("target_id")
    assert (first.target_id, second.target_id) == ("tgt_1", "tgt_2")
    assert first.id.startswith("use_")
    assert (first.workspace_id, first.agent_id, first.platform) == (workspace.pk, "", "sandbox")
    assert (first.round, first.kind, first.cents, first.url_posts) == (1, "hold", 20, 1)
    assert (str(first.month), str(first.day)) == ("2027-03-01", "2027-03-10")


def test_an_agents_hold_changes_its_month_and_day_counters() -> None:
    workspace = make_workspace()
    agent = make_agent(workspace)

    hold_costs(workspace_id=workspace.pk, agent_id=agent.pk, charges=charges("tgt_1", "tgt_2"), due=MARCH)

    assert month_of(agent) == month_of(workspace) == (20, 0, 0)
    assert day_of(agent) == 2
    assert set(LedgerEntry.objects.values_list("agent_id", flat=True)) == {agent.pk}


def test_month_and_day_are_in_utc() -> None:
    workspace = make_workspace()
    agent = make_agent(workspace)
    march_west_of_utc = datetime(2027, 3, 31, 22, tzinfo=timezone(timedelta(hours=-5)))

    hold_costs(workspace_id=workspace.pk, agent_id=agent.pk, charges=charges("tgt_1"), due=march_west_of_utc)

    assert month_of(workspace, MARCH) == (0, 0, 0)
    assert month_of(workspace, APRIL) == (10, 0, 0)
    assert day_of(agent, datetime(2027, 4, 1, tzinfo=UTC)) == 1


def test_free_credit_and_cap_together_can_be_spent_to_the_last_cent() -> None:
    workspace = make_workspace(free=30, cap=20)
    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1", cents=50), due=MARCH)

    with pytest.raises(SpendCapExceeded) as refusal, transaction.atomic():
        hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_2", cents=1), due=MARCH)

    assert refusal.value.status == 402
    assert refusal.value.code == "SPEND_CAP_EXCEEDED"
    assert refusal.value.message == (
        "This needs 1 cent; the workspace has 0 left in 2027-03 (cap 20, free credit 30, spent 0, reserved 50)."
    )
    assert month_of(workspace) == (50, 0, 0)


def test_each_month_has_its_own_cap() -> None:
    workspace = make_workspace(free=10)
    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1"), due=MARCH)

    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_2"), due=APRIL)

    assert month_of(workspace, APRIL) == (10, 0, 0)


def test_the_agents_own_cap_refuses_before_the_workspaces() -> None:
    workspace = make_workspace(free=0)
    agent = make_agent(workspace, cap=5)

    with pytest.raises(SpendCapExceeded) as refusal:
        hold_costs(workspace_id=workspace.pk, agent_id=agent.pk, charges=charges("tgt_1"), due=MARCH)

    assert refusal.value.message == (
        "This needs 10 cents; the agent has 5 left in 2027-03 (cap 5, free credit 0, spent 0, reserved 0)."
    )


def test_a_refusal_by_the_workspaces_cap_rolls_back_the_agents_hold() -> None:
    workspace = make_workspace(free=5)
    agent = make_agent(workspace, cap=100, day_cap=10)

    with pytest.raises(SpendCapExceeded, match="the workspace has 5 left"), transaction.atomic():
        hold_costs(workspace_id=workspace.pk, agent_id=agent.pk, charges=charges("tgt_1"), due=MARCH)

    assert month_of(agent) == month_of(workspace) == (0, 0, 0)
    assert day_of(agent) == 0
    assert not LedgerEntry.objects.exists()


@pytest.mark.parametrize(("workspace_cap", "agent_cap", "whose"), [(0, None, "workspace"), (9, 0, "agent")])
def test_posts_with_urls_have_their_own_cap(workspace_cap: int, agent_cap: int | None, whose: str) -> None:
    workspace = make_workspace(url_cap=workspace_cap)
    agent = make_agent(workspace, url_cap=agent_cap)

    with pytest.raises(UrlPostCapExceeded) as refusal:
        hold_costs(workspace_id=workspace.pk, agent_id=agent.pk, charges=charges("tgt_1", url_posts=1), due=MARCH)

    assert (refusal.value.status, refusal.value.code) == (403, "SOCIAL_URL_POST_CAP_EXCEEDED")
    assert refusal.value.message == f"This needs 1 URL post; the {whose} has 0 of 0 left in 2027-03."


def test_posts_without_urls_ignore_a_lowered_url_cap() -> None:
    workspace = make_workspace(url_cap=2)
    both = charges("tgt_1", "tgt_2", url_posts=1)
    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=both, due=MARCH)
    type(workspace).objects.update(monthly_social_url_post_cap=1)

    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_3"), due=MARCH)

    assert month_of(workspace) == (30, 0, 2)


def test_free_posts_ignore_a_lowered_spend_cap() -> None:
    workspace = make_workspace(free=10)
    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1"), due=MARCH)
    type(workspace).objects.update(free_monthly_credit_cents=0)

    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_2", cents=0), due=MARCH)

    assert month_of(workspace) == (10, 0, 0)


def test_a_full_day_has_retry_after_until_its_end() -> None:
    workspace = make_workspace()
    agent = make_agent(workspace, day_cap=2)
    hold_costs(workspace_id=workspace.pk, agent_id=agent.pk, charges=charges("tgt_1"), due=MARCH)

    with time_machine.travel(MARCH, tick=False), pytest.raises(PostsPerDayCapExceeded) as refusal:
        hold_costs(workspace_id=workspace.pk, agent_id=agent.pk, charges=charges("tgt_2", "tgt_3"), due=MARCH)

    assert (refusal.value.status, refusal.value.code) == (429, "POSTS_PER_DAY_CAP_EXCEEDED")
    assert refusal.value.headers == {"Retry-After": "43200"}
    assert refusal.value.message == "This posts to 2 targets; the agent has 1 of 2 left on 2027-03-10."


def test_retry_after_is_at_least_one_second() -> None:
    workspace = make_workspace()
    agent = make_agent(workspace, day_cap=1)

    with time_machine.travel(APRIL, tick=False), pytest.raises(PostsPerDayCapExceeded) as refusal:
        hold_costs(workspace_id=workspace.pk, agent_id=agent.pk, charges=charges("tgt_1", "tgt_2"), due=MARCH)

    assert refusal.value.headers == {"Retry-After": "1"}


def test_a_new_day_cap_counts_earlier_posts_of_the_day() -> None:
    workspace = make_workspace()
    agent = make_agent(workspace)
    hold_costs(workspace_id=workspace.pk, agent_id=agent.pk, charges=charges("tgt_1"), due=MARCH)
    type(agent).objects.update(posts_per_day_cap=1)

    with pytest.raises(PostsPerDayCapExceeded):
        hold_costs(workspace_id=workspace.pk, agent_id=agent.pk, charges=charges("tgt_2"), due=MARCH)


def test_the_largest_possible_caps_work() -> None:
    workspace = make_workspace(free=MAX_INT64, cap=MAX_INT64)

    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1"), due=MARCH)

    assert month_of(workspace) == (10, 0, 0)


def test_a_hold_without_charges_needs_no_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        hold_costs(workspace_id="wrk_none", agent_id=None, charges=[], due=MARCH)


def test_a_target_cannot_be_held_twice() -> None:
    workspace = make_workspace()
    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1"), due=MARCH)

    with pytest.raises(services.PriceAlreadyReserved, match="tgt_1 is already held or settled"):
        hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1"), due=APRIL)

    assert month_of(workspace, APRIL) == (0, 0, 0)


def test_an_agent_of_another_workspace_is_refused() -> None:
    workspace, other = make_workspace(), make_workspace()
    agent = make_agent(other)

    with pytest.raises(type(agent).DoesNotExist):
        hold_costs(workspace_id=workspace.pk, agent_id=agent.pk, charges=charges("tgt_1"), due=MARCH)


def test_a_hold_of_many_targets_needs_few_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    workspace = make_workspace(free=1000)
    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_0"), due=MARCH)
    fifty = charges(*(f"tgt_{n}" for n in range(1, 51)))

    with django_assert_num_queries(statements(sqlite=6, postgresql=5)):  # caps, earlier rounds, ledger and month
        hold_costs(workspace_id=workspace.pk, agent_id=None, charges=fifty, due=MARCH)


def test_the_first_hold_of_a_month_needs_more_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    workspace = make_workspace()

    with django_assert_num_queries(statements(sqlite=13, postgresql=16)):
        hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1"), due=MARCH)


def test_an_agents_hold_needs_few_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    workspace = make_workspace()
    agent = make_agent(workspace, cap=100, day_cap=10)
    hold_costs(workspace_id=workspace.pk, agent_id=agent.pk, charges=charges("tgt_1"), due=MARCH)

    with django_assert_num_queries(statements(sqlite=8, postgresql=5)):  # the agent's month and day on top
        hold_costs(workspace_id=workspace.pk, agent_id=agent.pk, charges=charges("tgt_2"), due=MARCH)


@pytest.mark.parametrize("column", ["held_cents", "settled_cents", "url_posts"])
def test_the_database_refuses_a_counter_below_zero(column: str) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        MonthCounter.objects.create(holder_id="wrk_1", month=MARCH.date(), **{column: -1})


@pytest.mark.django_db(transaction=True)
def test_ending_holds_needs_a_transaction() -> None:
    workspace = make_workspace()

    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1"), due=MARCH)

    with pytest.raises(transaction.TransactionManagementError):
        services.settle_holds_as_spent(target_ids=["tgt_1"])
    with pytest.raises(transaction.TransactionManagementError):
        services.release_holds(target_ids=["tgt_1"], failed=False)
