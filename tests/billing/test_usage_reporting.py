"""Usage beyond the free credit is reported to the processor once for each settled ledger entry."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
import time_machine
from django.db import transaction
from pytest_django import Settings

from billing import services
from billing.models import BillingAlarm, LedgerEntry, UsageReport
from tests.billing.holds import hold_costs
from tests.billing.rows import APRIL, MARCH, charges, make_workspace
from tests.billing.usage_reports import SEND, report_on, reports, spend
from tests.fakes.payment_processor import FakePaymentProcessor
from tests.in_threads import in_threads
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


def test_settling_creates_reports_of_usage_beyond_the_free_credit(payer: Workspace) -> None:
    spend(payer, "tgt_1", "tgt_2", "tgt_3")
    spend(payer, "tgt_free", cents=0)
    spend(payer, "tgt_april", due=APRIL)
    with transaction.atomic():
        hold_costs(workspace_id=payer.pk, agent_id=None, charges=charges("tgt_4"), due=MARCH)
        services.release_holds(target_ids=["tgt_4"], failed=True)

    assert reports() == [("tgt_2", 2, "pending"), ("tgt_3", 6, "pending")]
    entry = LedgerEntry.objects.get(target_id="tgt_2", kind="settle")
    row = UsageReport.objects.get(pk=entry.pk)
    assert (row.workspace_id, str(row.month), row.settled_at) == (payer.pk, "2027-03-01", entry.created_at)


def test_a_report_does_not_change_with_the_free_credit(payer: Workspace) -> None:
    spend(payer, "tgt_1", "tgt_2")
    Workspace.objects.update(free_monthly_credit_cents=1000)
    spend(payer, "tgt_3")

    assert reports() == [("tgt_2", 2, "pending")]


def test_a_rolled_back_settlement_leaves_no_report(payer: Workspace) -> None:
    with transaction.atomic():
        spend(payer, "tgt_1", "tgt_2")
        transaction.set_rollback(True)

    assert reports() == []


def test_in_free_beta_nothing_is_reported() -> None:
    workspace = make_workspace(free=0, cap=100)
    spend(workspace, "tgt_1")

    assert reports() == []


def test_a_report_is_a_meter_event_named_after_its_ledger_entry(
    payer: Workspace, processor: FakePaymentProcessor, clock: time_machine.Traveller
) -> None:
    spend(payer, "tgt_1", "tgt_2")
    clock.shift(timedelta(minutes=3))

    services.send_or_postpone_due_usage_reports()

    entry = LedgerEntry.objects.get(target_id="tgt_2", kind="settle")
    assert processor.form("/v1/billing/meter_events") == [
        {
            "event_name": "social_publishing_cents",
            "identifier": entry.pk,
            "timestamp": str(int(MARCH.timestamp())),
            "payload[stripe_customer_id]": "cus_9",
            "payload[value]": "2",
        }
    ]
    assert reports() == [("tgt_2", 2, "sent")]
    row = UsageReport.objects.get()
    assert (row.customer_id, row.sent_at, row.attempts) == ("cus_9", MARCH + timedelta(minutes=3), 1)
    assert services.send_or_postpone_due_usage_reports().claimed == 0


@pytest.mark.django_db(transaction=True)
def test_ten_workers_at_once_report_each_entry_once(payer: Workspace, processor: FakePaymentProcessor) -> None:
    spend(payer, *(f"tgt_{number}" for number in range(30)), cents=10)

    def work(_: int) -> None:
        while services.send_or_postpone_due_usage_reports(limit=3).claimed:
            pass

    in_threads(10, work)

    assert processor.requests_to(SEND) == 29
    assert processor.recorded_cents("cus_9") == 290
    assert {status for _, _, status in reports()} == {"sent"}


@pytest.mark.parametrize("arrived", [True, False])
@pytest.mark.parametrize("fault", ["dropped", 500, 503, 409])
def test_an_unanswered_report_is_resent_and_counted_once(
    payer: Workspace, processor: FakePaymentProcessor, clock: time_machine.Traveller, fault: str | int, arrived: bool
) -> None:
    spend(payer, "tgt_1", "tgt_2", "tgt_3")
    for _ in range(3):
        if isinstance(fault, int):
            processor.fail_next(SEND, fault, after_accept=arrived)
        else:
            processor.drop_next(SEND, after_accept=arrived)

    report_on(clock, timedelta(hours=1))

    assert reports() == [("tgt_2", 2, "sent"), ("tgt_3", 6, "sent")]
    assert processor.recorded_cents("cus_9") == 8
    assert len(processor.meter_events) == 2
    sent = processor.form("/v1/billing/meter_events")
    assert {form["identifier"] for form in sent} == set(UsageReport.objects.values_list("pk", flat=True))


@pytest.mark.django_db(transaction=True)
def test_an_attempt_is_saved_before_it_is_sent(
    payer: Workspace, processor: FakePaymentProcessor, clock: time_machine.Traveller
) -> None:
    spend(payer, "tgt_1", "tgt_2")
    late = processor.hold_next(SEND)
    seen: list[tuple[int, datetime | None]] = []

    def read_attempt() -> None:
        processor.wait_for(1)
        row = UsageReport.objects.get()
        seen.append((row.attempts, row.unknown_since))
        late.set()

    in_threads(2, lambda n: read_attempt() if n else services.send_or_postpone_due_usage_reports())

    assert seen == [(1, MARCH)]


def test_an_unknown_report_is_not_resent_after_the_identifier_expires(
    payer: Workspace, processor: FakePaymentProcessor, clock: time_machine.Traveller
) -> None:
    spend(payer, "tgt_1", "tgt_2")
    processor.drop_next(SEND)  # it has arrived, and nobody knows
    services.send_or_postpone_due_usage_reports()
    processor.broken = 500

    report_on(clock, timedelta(hours=25))
    processor.broken = False
    tried = processor.requests_to(SEND)
    report_on(clock, timedelta(days=2))

    assert reports() == [("tgt_2", 2, "unresolved")]
    assert processor.requests_to(SEND) == tried > 20
    assert processor.recorded_cents("cus_9") == 2
    alarm = BillingAlarm.objects.get(kind="usage_unresolved")
    assert alarm.subject == UsageReport.objects.get().pk
    assert alarm.resolved_at is None


@pytest.mark.parametrize("outage", ["unreachable", 401, 403, 429])
def test_reports_are_sent_after_an_outage_of_more_than_a_day(
    payer: Workspace, processor: FakePaymentProcessor, clock: time_machine.Traveller, settings: Settings, outage: str | int
) -> None:
    if isinstance(outage, int):
        processor.broken = outage
    else:
        settings.STRIPE_API_BASE = "http://127.0.0.1:1"  # nobody listens there
    spend(payer, *(f"tgt_{number}" for number in range(5)))
    report_on(clock, timedelta(hours=30))
    assert {status for _, _, status in reports()} == {"pending"}
    assert not UsageReport.objects.filter(unknown_since__isnull=False).exists()

    processor.broken, settings.STRIPE_API_BASE = False, processor.url
    report_on(clock, timedelta(hours=2))

    assert {status for _, _, status in reports()} == {"sent"}
    assert processor.recorded_cents("cus_9") == 5 * 6 - 10
    stamped = {event["timestamp"] for event in processor.meter_events.values()}
    assert stamped == {int(MARCH.timestamp())}


def test_usage_that_is_too_old_is_not_sent_and_raises_an_alarm(
    payer: Workspace, processor: FakePaymentProcessor, clock: time_machine.Traveller
) -> None:
    spend(payer, "tgt_1", "tgt_2")
    clock.shift(timedelta(days=35))

    services.send_or_postpone_due_usage_reports()

    assert processor.requests_to(SEND) == 0
    assert reports() == [("tgt_2", 2, "unresolved")]
    assert "too long ago" in BillingAlarm.objects.get().detail
