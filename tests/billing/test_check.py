from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from pytest_django import DjangoAssertNumQueries

from billing import selectors, services
from billing.caps import SpendCapStatus
from billing.errors import PostsPerDayCapExceeded, SpendCapExceeded, UrlPostCapExceeded
from billing.models import DayCounter, LedgerEntry, MonthCounter
from billing.serializers import SpendCapSerializer
from config.api.errors import ApiError
from tests.billing.holds import hold_costs
from tests.billing.rows import APRIL, MARCH, charges, make_agent, make_workspace

pytestmark = pytest.mark.django_db


def test_a_check_returns_the_resulting_month_and_writes_nothing() -> None:
    workspace = make_workspace(free=30, cap=50, url_cap=1)
    agent = make_agent(workspace, cap=60, day_cap=2)

    after = selectors.check_charges_and_return_spending(
        workspace_id=workspace.pk, agent_id=agent.pk, charges=charges("tgt_1", cents=20, url_posts=1), due=MARCH
    )

    assert after == SpendCapStatus(cap_cents=50, free_credit_cents=30, spent_cents=0, reserved_cents=20)
    assert (after.remaining_cents, after.exceeded) == (60, False)
    assert not MonthCounter.objects.exists()
    assert not DayCounter.objects.exists()
    assert not LedgerEntry.objects.exists()


@pytest.mark.parametrize(
    ("caps", "agent_caps", "error"),
    [
        ({"free": 25}, {}, SpendCapExceeded),
        ({}, {"cap": 25}, SpendCapExceeded),
        ({"url_cap": 1}, {}, UrlPostCapExceeded),
        ({"url_cap": 9}, {"url_cap": 1}, UrlPostCapExceeded),
        ({"url_cap": 9}, {"day_cap": 2}, PostsPerDayCapExceeded),
    ],
)
def test_a_check_and_a_hold_raise_the_same_error(
    caps: dict[str, int], agent_caps: dict[str, int], error: type[ApiError]
) -> None:
    workspace = make_workspace(**{"url_cap": 9} | caps)
    agent = make_agent(workspace, **agent_caps)
    cap = charges("tgt_1", url_posts=1)
    hold_costs(workspace_id=workspace.pk, agent_id=agent.pk, charges=cap, due=MARCH)
    more = charges("tgt_2", "tgt_3", url_posts=1)

    def words(call: Callable[..., object]) -> str:
        with pytest.raises(error) as refusal:
            call(workspace_id=workspace.pk, agent_id=agent.pk, charges=more, due=MARCH)
        return refusal.value.message

    assert words(selectors.check_charges_and_return_spending) == words(hold_costs)


def test_a_check_without_charges_returns_the_current_month() -> None:
    workspace = make_workspace(free=30)
    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1"), due=MARCH)

    unchanged = selectors.check_charges_and_return_spending(workspace_id=workspace.pk, agent_id=None, charges=[], due=MARCH)

    assert (
        unchanged == selectors.workspace_spend_cap_status(workspace_id=workspace.pk, at=MARCH) == SpendCapStatus(0, 30, 0, 10)
    )


def test_a_check_needs_two_queries_and_one_for_a_day_cap(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    workspace = make_workspace()
    agent = make_agent(workspace, day_cap=5)

    with django_assert_num_queries(2):
        selectors.check_charges_and_return_spending(
            workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1"), due=MARCH
        )
    with django_assert_num_queries(3):
        selectors.check_charges_and_return_spending(
            workspace_id=workspace.pk, agent_id=agent.pk, charges=charges("tgt_1"), due=MARCH
        )


def test_a_workspaces_spend_cap_is_for_the_requested_month() -> None:
    workspace = make_workspace(free=30, cap=40)
    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1", "tgt_2"), due=MARCH)
    services.settle_holds_as_spent(target_ids=["tgt_1"])

    assert SpendCapSerializer(selectors.workspace_spend_cap_status(workspace_id=workspace.pk, at=MARCH)).data == {
        "cap_cents": 40,
        "free_credit_cents": 30,
        "spent_cents": 10,
        "reserved_cents": 10,
        "remaining_cents": 50,
        "exceeded": False,
    }
    assert selectors.workspace_spend_cap_status(workspace_id=workspace.pk, at=APRIL) == SpendCapStatus(40, 30, 0, 0)


def test_an_agents_spend_cap_has_no_free_credit() -> None:
    workspace = make_workspace(free=30, cap=40)
    agent = make_agent(workspace, cap=25)
    hold_costs(workspace_id=workspace.pk, agent_id=agent.pk, charges=charges("tgt_1"), due=MARCH)
    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_2"), due=MARCH)

    cap = selectors.agent_spend_cap_status(workspace_id=workspace.pk, agent_id=agent.pk, at=MARCH)

    assert cap == SpendCapStatus(cap_cents=25, free_credit_cents=0, spent_cents=0, reserved_cents=10)
    assert cap.remaining_cents == 15


def test_an_agent_without_a_cap_has_unlimited_remaining_cents() -> None:
    workspace = make_workspace()
    agent = make_agent(workspace)

    cap = selectors.agent_spend_cap_status(workspace_id=workspace.pk, agent_id=agent.pk, at=MARCH)

    assert SpendCapSerializer(cap).data == {
        "cap_cents": None,
        "free_credit_cents": 0,
        "spent_cents": 0,
        "reserved_cents": 0,
        "remaining_cents": None,
        "exceeded": False,
    }


def test_a_cap_below_the_spending_is_exceeded() -> None:
    at_the_limit = SpendCapStatus(cap_cents=20, free_credit_cents=10, spent_cents=20, reserved_cents=10)

    assert (at_the_limit.remaining_cents, at_the_limit.exceeded) == (0, False)
    lowered = replace(at_the_limit, cap_cents=19)
    assert (lowered.remaining_cents, lowered.exceeded) == (0, True)
