"""Random operations in paid mode: caps hold, holds beyond the free credit need a paying subscription, and the reported
usage of a month is exactly its spending beyond the free credit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from django.db.models import Sum
from django.test import override_settings
from hypothesis import given, settings
from hypothesis import strategies as st

from billing import selectors, services
from billing.errors import PaymentMethodRequired, SpendCapExceeded
from billing.models import MonthCounter, Subscription, UsageReport
from config.api.errors import ApiError
from tests.billing.holds import hold_costs
from tests.billing.rows import APRIL, MARCH, charges, make_workspace
from workspaces.models import Workspace

FREE, CAP = 20, 30
TARGETS = [f"tgt_{n}" for n in range(6)]


@dataclass(frozen=True)
class Hold:
    target_id: str
    cents: int
    due: datetime


@dataclass(frozen=True)
class Settle:
    target_id: str


@dataclass(frozen=True)
class Release:
    target_id: str
    failed: bool


@dataclass(frozen=True)
class Reschedule:
    target_id: str
    due: datetime


@dataclass(frozen=True)
class Subscribe:
    status: str


Step = Hold | Settle | Release | Reschedule | Subscribe
targets, dues = st.sampled_from(TARGETS), st.sampled_from([MARCH, APRIL])
steps = st.lists(
    st.one_of(
        st.builds(Hold, targets, st.integers(0, 25), dues),
        st.builds(Settle, targets),
        st.builds(Release, targets, st.booleans()),
        st.builds(Reschedule, targets, dues),
        st.builds(Subscribe, st.sampled_from(["active", "past_due", "unpaid", "canceled"])),
    ),
    max_size=25,
)


class Books:
    """The workspace under test and the expected holds of its targets."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.held: dict[str, int] = {}
        self.settled: set[str] = set()

    def take(self, step: Step) -> None:
        match step:
            case Subscribe(status):
                Subscription.objects.update_or_create(workspace_id=self.workspace.pk, defaults={"status": status})
            case Hold(target_id, cents, due) if target_id not in self.held | dict.fromkeys(self.settled):
                if self.hold(target_id, cents, due):
                    self.held[target_id] = cents
            case Settle(target_id):
                services.settle_holds_as_spent(target_ids=[target_id])
                if self.held.pop(target_id, None) is not None:
                    self.settled.add(target_id)
            case Release(target_id, failed):
                services.release_holds(target_ids=[target_id], failed=failed)
                self.held.pop(target_id, None)
            case Reschedule(target_id, due) if target_id in self.held:
                self.hold(target_id, self.held[target_id], due, instead_of=[target_id])

    def hold(self, target_id: str, cents: int, due: datetime, instead_of: list[str] | None = None) -> bool:
        """Check and then hold, which must agree; targets in `instead_of` are released in the same transaction."""
        wanted, before = charges(target_id, cents=cents), self.counters()
        asked: dict[str, Any] = {"workspace_id": self.workspace.pk, "agent_id": None, "charges": wanted, "due": due}
        refusal = error_of(partial(selectors.check_charges_and_return_spending, **asked, instead_of=instead_of or []))
        with transaction.atomic():
            locks: dict[str, Any] = {"workspace_id": self.workspace.pk, "agent_ids": [], "due_times": [due]}
            services.lock_month_counters_in_order(target_ids=instead_of or [], **locks)
            services.release_holds(target_ids=instead_of or [], failed=False)
            freed = self.counters().get(due.month, 0)
            met = error_of(partial(hold_costs, **asked))
            transaction.set_rollback(met is not None)
        assert type(met) is type(refusal)
        assert type(met) is self.expected(freed, cents)
        if met:
            assert self.counters() == before
        return met is None

    def expected(self, taken: int, cents: int) -> type[ApiError | None]:
        if cents and taken + cents > FREE + CAP:
            return SpendCapExceeded
        if cents and taken + cents > FREE and not selectors.has_paying_subscription(workspace_id=self.workspace.pk):
            return PaymentMethodRequired
        return type(None)

    def counters(self) -> dict[int, int]:
        """Return held and settled cents by month."""
        return {row.month.month: row.held_cents + row.settled_cents for row in MonthCounter.objects.all()}


def error_of(call: Callable[[], object]) -> ApiError | None:
    try:
        with transaction.atomic():
            call()
    except (SpendCapExceeded, PaymentMethodRequired) as error:
        return error
    return None


@pytest.mark.django_db
@override_settings(STRIPE_SECRET_KEY="sk_test_of_nobody")
@settings(max_examples=80, deadline=None, derandomize=True)
@given(steps=steps)
def test_paid_ledger_balances_for_random_operations(steps: list[Step]) -> None:
    with transaction.atomic():
        books = Books(make_workspace(free=FREE, cap=CAP))
        for step in steps:
            books.take(step)
            assert all(cents <= FREE + CAP for cents in books.counters().values())
        assert selectors.find_wrong_month_counters() == []
        for counter in MonthCounter.objects.all():
            reported = UsageReport.objects.filter(month=counter.month).aggregate(cents=Sum("cents", default=0))["cents"]
            assert reported == max(0, counter.settled_cents - FREE)
        transaction.set_rollback(True)
