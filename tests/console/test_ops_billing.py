"""POST /ops/billing/reconcile: an operator runs the nightly comparison."""

from __future__ import annotations

import pytest

from auditlog.models import AuditEntry
from billing.models import BillingAlarm, MonthCounter
from tests import factories
from tests.billing.conftest import processor
from tests.billing.rows import MARCH
from tests.conftest import ApiClient
from tests.console.operators import operator_audit_entries
from tests.fakes.payment_processor import FakePaymentProcessor

__all__ = ["processor"]  # the fixture


@pytest.fixture
def drifting(db: None) -> str:
    """Create a month's counter without ledger entries."""
    workspace = factories.WorkspaceFactory.create(processor_customer_id="cus_1")
    MonthCounter.objects.create(holder_id=workspace.id, month=MARCH.date().replace(day=1), settled_cents=7)
    return str(workspace.id)


def test_subscriptions_and_ledger_are_checked(operator: ApiClient, processor: FakePaymentProcessor, drifting: str) -> None:
    processor.subscribe("cus_1", "active")
    answer = operator.post("/ops/billing/reconcile")

    assert answer.json()["reconciliation"] == {
        "workspaces": 1,
        "subscriptions_changed": 1,
        "usage_differences": 0,
        "drifting_months": 1,
        "complete": True,
    }
    assert [each["subject"] for each in operator.get("/ops/status").json()["billing_alarms"]] == [f"{drifting} 2027-03"]
    assert AuditEntry.objects.get(operation="ops.reconcile_billing").metadata["drifting_months"] == 1


def test_a_dry_run_sends_no_requests_to_the_processor(
    operator: ApiClient, processor: FakePaymentProcessor, drifting: str
) -> None:
    result = operator.post("/ops/billing/reconcile", {"dry_run": True}).json()

    assert (result["would_update"], result["unchecked"]) == ({"workspaces": 1}, ["processor", "books"])
    assert (len(processor.requests), BillingAlarm.objects.count()) == (0, 0)
    assert operator_audit_entries("ops.reconcile_billing") == [("", "", True, None)]


def test_in_free_beta_only_the_ledger_is_checked_by_the_operator(operator: ApiClient, drifting: str) -> None:
    result = operator.post("/ops/billing/reconcile").json()["reconciliation"]

    assert (result["workspaces"], result["drifting_months"], result["complete"]) == (0, 1, True)
