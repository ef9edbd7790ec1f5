from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from billing import selectors, services
from billing.models import LedgerEntry, MonthCounter
from billing.selectors import MonthSums, WrongMonthCounter
from tests.billing.holds import hold_costs
from tests.billing.rows import APRIL, MARCH, charges, day_of, make_agent, make_workspace, month_of, totals
from tests.statements import statements

pytestmark = pytest.mark.django_db


def ledger() -> list[tuple[str, int, str]]:
    return list(LedgerEntry.objects.order_by("id").values_list("target_id", "round", "kind"))


def test_settling_turns_held_into_spent_cents() -> None:
    workspace = make_workspace(url_cap=9)
    agent = make_agent(workspace)
    held = charges("tgt_1", "tgt_2", cents=20, url_posts=1)
    hold_costs(workspace_id=workspace.pk, agent_id=agent.pk, charges=held, due=MARCH)

    services.settle_holds_as_spent(target_ids=["tgt_1"])

    assert month_of(agent) == month_of(workspace) == (20, 20, 2)
    assert day_of(agent) == 2
    assert totals() == [(agent.pk, "sandbox", 1, 0, 1, 20)]
    assert selectors.find_wrong_month_counters() == []


def test_settling_uses_the_price_of_the_hold() -> None:
    workspace = make_workspace()
    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1", cents=3), due=APRIL)

    services.settle_holds_as_spent(target_ids=["tgt_1"])

    assert month_of(workspace, APRIL) == (0, 3, 0)


@pytest.mark.parametrize(("failed", "counted"), [(True, [("", "sandbox", 0, 1, 0, 0)]), (False, [])])
def test_releasing_restores_the_counters(failed: bool, counted: list[tuple[str, str, int, int, int, int]]) -> None:
    workspace = make_workspace(url_cap=9)
    held = charges("tgt_1", url_posts=1)
    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=held, due=MARCH)

    services.release_holds(target_ids=["tgt_1"], failed=failed)

    assert month_of(workspace) == (0, 0, 0)
    assert totals() == counted
    assert selectors.find_wrong_month_counters() == []


def test_releasing_restores_the_agents_month_and_day() -> None:
    workspace = make_workspace()
    agent = make_agent(workspace, cap=10, day_cap=1)
    hold_costs(workspace_id=workspace.pk, agent_id=agent.pk, charges=charges("tgt_1"), due=MARCH)

    services.release_holds(target_ids=["tgt_1"], failed=True)

    assert (month_of(agent), day_of(agent)) == ((0, 0, 0), 0)
    hold_costs(workspace_id=workspace.pk, agent_id=agent.pk, charges=charges("tgt_2"), due=MARCH)


def test_release_many_over_months_agents_and_workspaces() -> None:
    workspace, other = make_workspace(), make_workspace()
    agent = make_agent(workspace)
    hold_costs(workspace_id=workspace.pk, agent_id=agent.pk, charges=charges("tgt_1", "tgt_2"), due=MARCH)
    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_3"), due=APRIL)
    hold_costs(workspace_id=other.pk, agent_id=None, charges=charges("tgt_4", "tgt_5"), due=MARCH)

    services.release_holds(target_ids=["tgt_1", "tgt_3", "tgt_4", "tgt_unknown"], failed=True)

    assert (month_of(workspace, MARCH), month_of(workspace, APRIL)) == ((10, 0, 0), (0, 0, 0))
    assert (month_of(agent), month_of(other), day_of(agent)) == ((10, 0, 0), (10, 0, 0), 1)
    assert sum(row[3] for row in totals()) == 3
    assert selectors.find_wrong_month_counters() == []


def test_settling_or_releasing_without_a_hold_changes_nothing() -> None:
    workspace = make_workspace()
    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1", "tgt_2"), due=MARCH)
    services.settle_holds_as_spent(target_ids=["tgt_1"])
    services.release_holds(target_ids=["tgt_2"], failed=True)

    for target_id in ("tgt_1", "tgt_2", "tgt_unknown"):
        services.settle_holds_as_spent(target_ids=[target_id])
        services.release_holds(target_ids=[target_id], failed=True)

    assert month_of(workspace) == (0, 10, 0)
    assert totals() == [("", "sandbox", 1, 1, 0, 10)]
    assert ledger() == [("tgt_1", 1, "hold"), ("tgt_2", 1, "hold"), ("tgt_1", 1, "settle"), ("tgt_2", 1, "release")]


def test_a_released_target_can_be_held_again_in_another_month() -> None:
    workspace = make_workspace()
    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1"), due=MARCH)
    services.release_holds(target_ids=["tgt_1"], failed=True)
    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1", cents=12), due=APRIL)

    services.settle_holds_as_spent(target_ids=["tgt_1"])

    assert (month_of(workspace, MARCH), month_of(workspace, APRIL)) == ((0, 0, 0), (0, 12, 0))
    assert ledger()[2:] == [("tgt_1", 2, "hold"), ("tgt_1", 2, "settle")]
    assert selectors.find_wrong_month_counters() == []


def test_a_settled_target_cannot_be_held_again() -> None:
    workspace = make_workspace()
    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1"), due=MARCH)
    services.settle_holds_as_spent(target_ids=["tgt_1"])

    with pytest.raises(services.PriceAlreadyReserved, match="tgt_1 is already held or settled"):
        hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1"), due=MARCH)


def test_settle_and_release_need_few_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    workspace = make_workspace()
    agent = make_agent(workspace)
    four = charges("tgt_1", "tgt_2", "tgt_3", "tgt_4")
    hold_costs(workspace_id=workspace.pk, agent_id=agent.pk, charges=four, due=MARCH)
    services.settle_holds_as_spent(target_ids=["tgt_1"])

    with django_assert_num_queries(statements(sqlite=6, postgresql=3)):  # the hold, its ends, and the writes
        services.settle_holds_as_spent(target_ids=["tgt_2"])
    with django_assert_num_queries(statements(sqlite=7, postgresql=3)):
        services.release_holds(target_ids=["tgt_3", "tgt_4"], failed=True)
    with django_assert_num_queries(2):
        services.settle_holds_as_spent(target_ids=["tgt_2"])


def test_drift_returns_the_month_with_a_wrong_counter() -> None:
    workspace = make_workspace()
    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1"), due=MARCH)
    MonthCounter.objects.update(settled_cents=1)

    assert selectors.find_wrong_month_counters() == [
        WrongMonthCounter(workspace.pk, MARCH.date().replace(day=1), counter=MonthSums(10, 1, 0), ledger=MonthSums(10, 0, 0))
    ]


def test_drift_finds_counters_without_entries_and_entries_without_counter() -> None:
    workspace = make_workspace()
    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1"), due=MARCH)
    MonthCounter.objects.update(month=APRIL.date().replace(day=1))

    assert [(found.month.month, found.counter, found.ledger) for found in selectors.find_wrong_month_counters()] == [
        (3, MonthSums(0, 0, 0), MonthSums(10, 0, 0)),
        (4, MonthSums(10, 0, 0), MonthSums(0, 0, 0)),
    ]
