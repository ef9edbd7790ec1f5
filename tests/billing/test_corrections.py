"""Corrections: credits and charges that one operator proposes and another approves."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
import time_machine
from django.db import IntegrityError, transaction
from django.utils import timezone

from auditlog.models import AuditEntry
from billing import selectors, services
from billing.models import Correction, LedgerEntry, UsageReport, UsageTotal
from billing.services.usage_reconciliation import resolve_and_compare_usage_reports
from config.api.caller import Caller, operator_caller, system_caller
from config.api.errors import ApiError, Forbidden, InvalidState, NotFound
from tests.billing.holds import hold_costs
from tests.billing.rows import APRIL, MARCH, charges, make_workspace, month_of
from tests.billing.usage_reports import SEND, report_on, spend
from tests.fakes.payment_processor import FakePaymentProcessor
from tests.in_threads import in_threads
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db
MONTH = date(2027, 3, 1)


def operator(name: str) -> Caller:
    return replace(operator_caller(None), actor_id=f"usr_{name}")


def propose(
    workspace: Workspace, cents: int, *, month: date = MONTH, reason: str = "An outage", by: str = "ada"
) -> Correction:
    return services.propose_correction(
        caller=operator(by), workspace_id=workspace.pk, month=month, cents=cents, reason=reason
    )


def approve(correction: Correction, *, by: str = "bob") -> LedgerEntry:
    return services.approve_correction(caller=operator(by), correction_id=correction.pk)


def everything() -> list[Any]:
    """Return all rows that a correction may change."""
    return [list(model._default_manager.values()) for model in (Correction, LedgerEntry, UsageTotal, UsageReport)]


@pytest.fixture
def workspace(clock: time_machine.Traveller) -> Workspace:
    made = make_workspace(free=10, cap=100)
    spend(made, "tgt_1", "tgt_2")
    return made


def test_a_proposal_changes_no_money_and_its_approval_does(workspace: Workspace) -> None:
    hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_3"), due=MARCH)
    proposed = propose(workspace, -5)
    assert month_of(workspace) == (10, 12, 0)
    assert LedgerEntry.objects.filter(kind="adjust").count() == 0
    entry = approve(proposed)

    proposed.refresh_from_db()
    assert (proposed.status, proposed.decided_by) == ("approved", "usr_bob")
    assert (entry.kind, entry.cents, entry.month, entry.target_id) == ("adjust", -5, MONTH, proposed.pk)
    assert month_of(workspace) == (10, 7, 0)
    assert UsageTotal.objects.get(platform="correction").spend_cents == -5
    assert selectors.find_wrong_month_counters() == []
    assert list(AuditEntry.objects.values_list("operation", "actor_id", "workspace_id").order_by("pk")) == [
        ("ops.propose_correction", "usr_ada", ""),
        ("ops.approve_correction", "usr_bob", workspace.pk),
    ]


def test_a_credit_leaves_room_below_the_spend_cap_and_a_charge_takes_it(workspace: Workspace) -> None:
    def remaining() -> int | None:
        return selectors.workspace_spend_cap_status(workspace_id=workspace.pk, at=MARCH).remaining_cents

    assert remaining() == 98
    approve(propose(workspace, -12))
    assert remaining() == 110
    approve(propose(workspace, 200))
    assert remaining() == 0
    assert selectors.find_wrong_month_counters() == []


def test_the_operator_who_proposed_cannot_approve(workspace: Workspace) -> None:
    proposed = propose(workspace, -5)
    before = everything()
    with pytest.raises(Forbidden):
        approve(proposed, by="ada")
    assert everything() == before

    decided = {"status": "approved", "decided_at": timezone.now()}
    for decided_by in ("usr_ada", ""):
        with pytest.raises(IntegrityError), transaction.atomic():
            Correction.objects.filter(pk=proposed.pk).update(**decided, decided_by=decided_by)


@pytest.mark.parametrize("decide", [services.approve_correction, services.withdraw_correction])
def test_what_was_decided_or_has_expired_cannot_be_decided(
    workspace: Workspace, clock: time_machine.Traveller, decide: Any
) -> None:
    approved, withdrawn, old = propose(workspace, -1), propose(workspace, -2), propose(workspace, -3)
    approve(approved)
    services.withdraw_correction(caller=operator("ada"), correction_id=withdrawn.pk)
    clock.shift(timedelta(days=14))
    before = everything()

    for correction in (approved, withdrawn, old):
        with pytest.raises(InvalidState):
            decide(caller=operator("bob"), correction_id=correction.pk)
    with pytest.raises(NotFound):
        decide(caller=operator("bob"), correction_id="cor_none")
    assert everything() == before
    with pytest.raises(IntegrityError), transaction.atomic():
        Correction.objects.filter(pk=old.pk).update(status="approved", decided_by="usr_bob", decided_at=timezone.now())
    assert month_of(workspace) == (0, 11, 0)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"cents": -13}, InvalidState),  # twelve were spent
        ({"cents": -1, "month": date(2027, 2, 1)}, InvalidState),
        ({"cents": 1, "month": date(2027, 4, 1)}, InvalidState),
        ({"cents": 0}, InvalidState),
        ({"cents": 100_000_01}, InvalidState),
        ({"cents": -1, "reason": " "}, InvalidState),
    ],
)
def test_a_correction_that_makes_no_sense_is_refused(
    workspace: Workspace, fields: dict[str, Any], error: type[ApiError]
) -> None:
    with pytest.raises(error):
        propose(workspace, **fields)
    assert not Correction.objects.exists()


def test_only_operators_correct_and_only_workspaces_that_exist(workspace: Workspace) -> None:
    proposed = propose(workspace, -1)
    with pytest.raises(Forbidden):
        services.approve_correction(caller=system_caller(workspace.pk), correction_id=proposed.pk)
    Workspace.objects.update(status="deleted")
    before = everything()

    with pytest.raises(NotFound):
        propose(workspace, -1)
    with pytest.raises(NotFound):
        approve(proposed)
    assert everything() == before


def test_two_credits_together_cannot_exceed_what_was_spent(workspace: Workspace) -> None:
    first, second = propose(workspace, -8), propose(workspace, -8)
    approve(first)
    with pytest.raises(InvalidState):
        approve(second)

    second.refresh_from_db()
    assert second.status == "proposed"
    assert month_of(workspace) == (0, 4, 0)


@pytest.mark.django_db(transaction=True)
def test_two_approvals_at_once_count_once(clock: time_machine.Traveller) -> None:
    workspace = make_workspace(free=10, cap=100)
    spend(workspace, "tgt_1", "tgt_2")
    proposed = propose(workspace, -5)

    def approve_once(number: int) -> bool:
        try:
            approve(proposed, by=f"operator{number}")
        except InvalidState:
            return False
        return True

    assert sorted(in_threads(2, approve_once)) == [False, True]
    assert month_of(workspace) == (0, 7, 0)
    assert LedgerEntry.objects.filter(kind="adjust").count() == 1


def test_a_credit_is_sent_to_the_processor_once(
    payer: Workspace, processor: FakePaymentProcessor, clock: time_machine.Traveller
) -> None:
    spend(payer, "tgt_1", "tgt_2", "tgt_3")  # 18 cents, 8 beyond the free credit
    report_on(clock, timedelta(minutes=1))
    entry = approve(propose(payer, -5))
    report = UsageReport.objects.get(pk=entry.pk)
    assert (report.cents, report.settled_at, report.status) == (-5, entry.created_at, "pending")
    processor.drop_next(SEND)
    report_on(clock, timedelta(hours=1))

    report.refresh_from_db()
    assert (report.status, report.attempts) == ("sent", 2)
    assert processor.recorded_cents("cus_9") == 3
    clock.shift(timedelta(days=2))
    assert resolve_and_compare_usage_reports() == 0


def test_only_what_was_reported_is_taken_back(payer: Workspace, processor: FakePaymentProcessor) -> None:
    spend(payer, "tgt_1", "tgt_2")  # 12 cents, 2 beyond the free credit
    approve(propose(payer, -7))
    spend(payer, "tgt_3")
    assert sorted(UsageReport.objects.values_list("cents", flat=True)) == [-2, 1, 2]

    Workspace.objects.update(free_monthly_credit_cents=0)  # nothing was reported for these ten cents
    approve(propose(payer, -11))
    assert sum(UsageReport.objects.values_list("cents", flat=True)) == 0


def test_a_charge_beyond_the_free_credit_is_reported(payer: Workspace) -> None:
    spend(payer, "tgt_1")
    approve(propose(payer, 10))

    assert list(UsageReport.objects.values_list("cents", flat=True)) == [6]


def test_a_month_that_is_over_can_be_corrected(payer: Workspace, clock: time_machine.Traveller) -> None:
    spend(payer, "tgt_1", "tgt_2")
    clock.move_to(APRIL)
    entry = approve(propose(payer, -12))

    assert (entry.month, month_of(payer), month_of(payer, APRIL)) == (MONTH, (0, 0, 0), (0, 0, 0))
    assert UsageReport.objects.get(pk=entry.pk).cents == -2
    assert selectors.find_wrong_month_counters() == []
