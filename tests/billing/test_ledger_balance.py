from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
import time_machine
from django.db import transaction
from django.db.models import Sum
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.models import Agent
from billing import selectors, services
from billing.errors import PostsPerDayCapExceeded, SpendCapExceeded, UrlPostCapExceeded
from billing.models import DayCounter, LedgerEntry, MonthCounter, UsageTotal
from billing.prices import PublishingCharge
from config.api.caller import operator_caller
from config.api.errors import ApiError, InvalidState
from tests.billing.holds import hold_costs
from tests.billing.rows import APRIL, MARCH, make_agent, make_workspace
from workspaces.models import Workspace

TARGETS = [f"tgt_{n}" for n in range(6)]
REFUSALS = (SpendCapExceeded, UrlPostCapExceeded, PostsPerDayCapExceeded)


@dataclass(frozen=True)
class Hold:
    by_agent: bool
    charges: list[PublishingCharge]
    in_april: bool


@dataclass(frozen=True)
class Settle:
    target_id: str


@dataclass(frozen=True)
class Release:
    target_ids: list[str]
    failed: bool


@dataclass(frozen=True)
class Credit:
    cents: int


some_charges = st.lists(
    st.builds(
        PublishingCharge,
        target_id=st.sampled_from(TARGETS),
        platform=st.sampled_from(["plain", "dear"]),
        cents=st.integers(0, 30),
        url_posts=st.integers(0, 1),
    ),
    max_size=3,
    unique_by=lambda charge: charge.target_id,
)
steps = st.lists(
    st.one_of(
        st.builds(Hold, by_agent=st.booleans(), charges=some_charges, in_april=st.booleans()),
        st.builds(Settle, target_id=st.sampled_from(TARGETS)),
        st.builds(Credit, cents=st.integers(1, 20)),
        st.builds(Release, target_ids=st.lists(st.sampled_from(TARGETS), max_size=3), failed=st.booleans()),
    ),
    max_size=25,
)


@pytest.mark.django_db
@settings(max_examples=80, deadline=None, derandomize=True)
@given(steps=steps)
def test_ledger_balances_and_caps_hold_for_random_operations(steps: list[Hold | Settle | Release | Credit]) -> None:
    with time_machine.travel(MARCH, tick=False), transaction.atomic():
        workspace = make_workspace(free=40, cap=20, url_cap=3)
        agent = make_agent(workspace, cap=45, url_cap=2, day_cap=4)
        taken: set[str] = set()  # held or published
        open_holds: set[str] = set()
        for step in steps:
            take(step, workspace, agent, taken, open_holds)
            assert_caps_hold(workspace, agent)
        assert_ledger_balances(workspace, agent)
        transaction.set_rollback(True)


def take(
    step: Hold | Settle | Release | Credit, workspace: Workspace, agent: Agent, taken: set[str], open_holds: set[str]
) -> None:
    if isinstance(step, Hold):
        if held := hold(step, workspace, agent, taken):
            taken |= held
            open_holds |= held
    elif isinstance(step, Credit):
        credit(workspace, step.cents)
    elif isinstance(step, Settle):
        services.settle_holds_as_spent(target_ids=[step.target_id])
        open_holds.discard(step.target_id)
    else:
        services.release_holds(target_ids=step.target_ids, failed=step.failed)
        taken -= open_holds & set(step.target_ids)
        open_holds -= set(step.target_ids)


def hold(step: Hold, workspace: Workspace, agent: Agent, taken: set[str]) -> set[str]:
    """Check and then hold, which must agree; returns the held targets."""
    call: dict[str, Any] = {
        "workspace_id": workspace.pk,
        "agent_id": agent.pk if step.by_agent else None,
        "charges": step.charges,
        "due": APRIL if step.in_april else MARCH,
    }
    targets = {charge.target_id for charge in step.charges}
    if targets & taken:
        with pytest.raises(services.PriceAlreadyReserved), transaction.atomic():
            hold_costs(**call)
        return set()
    refusal: ApiError | None = None
    try:
        after = selectors.check_charges_and_return_spending(**call)
    except REFUSALS as error:
        refusal = error
    if refusal:
        with pytest.raises(type(refusal)), transaction.atomic():
            hold_costs(**call)
        return set()
    hold_costs(**call)
    assert selectors.workspace_spend_cap_status(workspace_id=workspace.pk, at=call["due"]) == after
    return targets


def credit(workspace: Workspace, cents: int) -> None:
    """Credit an amount by the word of two operators; it is refused if less was spent."""
    ada, bob = (replace(operator_caller(None), actor_id=f"usr_{name}") for name in ("ada", "bob"))
    spent = selectors.workspace_spend_cap_status(workspace_id=workspace.pk, at=MARCH).spent_cents
    call: dict[str, Any] = {"workspace_id": workspace.pk, "month": MARCH.date(), "cents": -cents, "reason": "An outage"}
    if cents > spent:
        with pytest.raises(InvalidState):
            services.propose_correction(caller=ada, **call)
        return
    proposed = services.propose_correction(caller=ada, **call)
    services.approve_correction(caller=bob, correction_id=proposed.pk)


def assert_caps_hold(workspace: Workspace, agent: Agent) -> None:
    limits = {workspace.pk: (60, 3), agent.pk: (45, 2)}
    for counter in MonthCounter.objects.all():
        cents, url_posts = limits[counter.holder_id]
        assert counter.held_cents + counter.settled_cents <= cents
        assert counter.url_posts <= url_posts
    assert not DayCounter.objects.filter(targets__gt=4).exists()


def assert_ledger_balances(workspace: Workspace, agent: Agent) -> None:
    assert selectors.find_wrong_month_counters() == []
    for at in (MARCH, APRIL):
        month, kind = at.date().replace(day=1), LedgerEntry.Kind
        spent = UsageTotal.objects.filter(month=month).aggregate(spent=Sum("spend_cents", default=0))["spent"]
        assert spent == selectors.workspace_spend_cap_status(workspace_id=workspace.pk, at=at).spent_cents
        entries = LedgerEntry.objects.filter(agent_id=agent.pk, day=at.date())
        due = entries.filter(kind=kind.HOLD).count() - entries.filter(kind=kind.RELEASE).count()
        assert sum(DayCounter.objects.filter(day=at.date()).values_list("targets", flat=True)) == due
