"""The nightly reconciliation with the processor, and `manage.py reconcile_billing`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.db import transaction

from billing import services
from billing.models import BillingAlarm, MonthCounter, Subscription, UsageReport
from billing.tasks import reconcile_at_night
from tests import factories
from tests.billing.holds import hold_costs
from tests.billing.rows import MARCH, charges, make_workspace
from tests.billing.usage_reports import SEND, report_on, reports, spend
from tests.fakes.payment_processor import FakePaymentProcessor
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db

NIGHT = datetime(2027, 3, 11, 3, 20, tzinfo=UTC)


def make_customer(customer_id: str, **fields: str) -> Workspace:
    return factories.WorkspaceFactory.create(processor_customer_id=customer_id, **fields)


def stored_subscription(workspace: Workspace) -> tuple[str, str]:
    return Subscription.objects.values_list("plan", "status").get(pk=workspace.pk)


def open_alarms() -> list[tuple[str, str]]:
    return list(BillingAlarm.objects.filter(resolved_at=None).order_by("kind").values_list("kind", "subject"))


def test_subscriptions_with_lost_events_are_corrected(processor: FakePaymentProcessor) -> None:
    begun, ended, same, none = (make_customer(f"cus_{number}") for number in range(4))
    stranger = factories.WorkspaceFactory.create()
    processor.subscribe("cus_0", prices=("price_pro",))
    processor.subscribe("cus_1", "canceled")
    Subscription.objects.create(workspace_id=ended.pk, plan="payg", status="active")
    processor.subscribe("cus_2", "active")

    services.reconcile_billing()
    found = services.reconcile_billing()

    assert [stored_subscription(each) for each in (begun, ended, same, none)] == [
        ("pro", "active"),
        ("payg", "canceled"),
        ("payg", "active"),
        ("", ""),
    ]
    begun.refresh_from_db()
    assert begun.retention_tier == "pro"
    assert not Subscription.objects.filter(pk=stranger.pk).exists()
    assert (found.workspaces, found.subscriptions_changed, found.complete) == (4, 0, True)
    assert open_alarms() == []


def test_the_end_of_the_grace_period_resets_the_retention_tier(
    processor: FakePaymentProcessor, clock: time_machine.Traveller
) -> None:
    workspace = make_customer("cus_1")
    processor.subscribe("cus_1", "past_due", prices=("price_pro",))
    services.reconcile_billing()
    clock.shift(timedelta(days=13))
    services.reconcile_billing()
    workspace.refresh_from_db()
    assert workspace.retention_tier == "pro"

    clock.shift(timedelta(days=1))
    services.reconcile_billing()

    workspace.refresh_from_db()
    assert workspace.retention_tier == "free"


def test_an_unknown_customer_raises_an_alarm_and_changes_nothing(processor: FakePaymentProcessor) -> None:
    lost, other = make_customer("cus_1"), make_customer("cus_2")
    Subscription.objects.create(workspace_id=lost.pk, plan="payg", status="active")
    processor.subscribe("cus_2")
    processor.unknown_customers.add("cus_1")

    assert services.reconcile_billing().complete

    assert (stored_subscription(lost), stored_subscription(other)) == (("payg", "active"), ("payg", "active"))
    assert open_alarms() == [("customer", lost.pk)]

    processor.unknown_customers.clear()
    services.reconcile_billing()
    assert open_alarms() == []


def test_reconciliation_runs_at_night_and_hourly_until_complete(
    processor: FakePaymentProcessor, clock: time_machine.Traveller
) -> None:
    workspace = make_customer("cus_1")
    processor.subscribe("cus_1")
    processor.broken = 500
    clock.move_to(NIGHT - timedelta(hours=1))
    reconcile_at_night()
    assert processor.requests == ()

    clock.move_to(NIGHT)
    reconcile_at_night()
    assert open_alarms() == [("reconciliation", "")]

    processor.broken = False
    clock.shift(timedelta(hours=1))
    reconcile_at_night()
    assert stored_subscription(workspace) == ("payg", "active")
    assert open_alarms() == []

    asked = len(processor.requests)
    clock.shift(timedelta(hours=1))
    reconcile_at_night()
    assert len(processor.requests) == asked


def test_in_free_beta_only_the_ledger_is_checked() -> None:
    make_customer("cus_1")

    assert services.reconcile_billing() == services.ReconciliationResult()


def test_a_different_usage_sum_raises_an_alarm_until_it_matches(
    payer: Workspace, processor: FakePaymentProcessor, clock: time_machine.Traveller
) -> None:
    spend(payer, *(f"tgt_{number}" for number in range(5)))
    services.send_or_postpone_due_usage_reports()
    clock.move_to(NIGHT)
    assert services.reconcile_billing().usage_differences == 0
    assert open_alarms() == []

    # The reports arrive in any order, because they are sent at the same time.
    lost = next(key for key, event in processor.meter_events.items() if event["payload"]["value"] == "6")
    event = processor.meter_events.pop(lost)
    assert services.reconcile_billing().usage_differences == 1
    alarm = BillingAlarm.objects.get()
    assert (alarm.kind, alarm.subject) == ("usage_sum", "cus_9")
    assert alarm.detail == "Since 2027-02-04 the processor has 14 cents of usage, 20 were reported."
    assert processor.requests_to(SEND) == 4

    processor.meter_events[lost] = event
    assert services.reconcile_billing().usage_differences == 0
    assert open_alarms() == []


def test_customers_with_recent_reports_are_compared_the_next_time(
    payer: Workspace, processor: FakePaymentProcessor, clock: time_machine.Traveller
) -> None:
    spend(payer, "tgt_1", "tgt_2")
    clock.move_to(NIGHT)
    services.send_or_postpone_due_usage_reports()
    processor.meter_events.clear()

    assert services.reconcile_billing().usage_differences == 0
    clock.shift(timedelta(hours=2))
    assert services.reconcile_billing().usage_differences == 1


def test_a_missing_meter_raises_an_alarm(
    payer: Workspace, processor: FakePaymentProcessor, clock: time_machine.Traveller
) -> None:
    spend(payer, "tgt_1", "tgt_2")
    services.send_or_postpone_due_usage_reports()
    clock.move_to(NIGHT)
    processor.event_names.clear()
    services.reconcile_billing()
    assert open_alarms() == [("usage_sum", "")]

    processor.event_names.add("social_publishing_cents")
    services.reconcile_billing()
    assert open_alarms() == []


@pytest.mark.parametrize("arrived", [True, False])
def test_a_report_of_unknown_outcome_is_resolved_by_its_minute_and_never_resent(
    payer: Workspace, processor: FakePaymentProcessor, clock: time_machine.Traveller, arrived: bool
) -> None:
    spend(payer, "tgt_1", "tgt_2")
    services.send_or_postpone_due_usage_reports()
    spend(payer, "tgt_3")
    processor.drop_next(SEND, after_accept=arrived)
    services.send_or_postpone_due_usage_reports()
    processor.broken = 500
    report_on(clock, timedelta(hours=25))
    processor.broken = False
    assert [status for _, _, status in reports()] == ["sent", "unresolved"]
    clock.move_to(NIGHT + timedelta(days=1))
    tried = processor.requests_to(SEND)

    services.reconcile_billing()

    assert processor.requests_to(SEND) == tried
    if arrived:
        assert [status for _, _, status in reports()] == ["sent", "sent"]
        assert open_alarms() == []
    else:
        assert [status for _, _, status in reports()] == ["sent", "unresolved"]
        lost = UsageReport.objects.get(status="unresolved")
        assert open_alarms() == [("usage_unresolved", lost.pk)]
        assert BillingAlarm.objects.get(kind="usage_unresolved").detail == "The processor has not recorded these 6 cents."


def test_an_inconclusive_minute_is_left_to_an_operator(
    payer: Workspace, processor: FakePaymentProcessor, clock: time_machine.Traveller
) -> None:
    spend(payer, "tgt_1", "tgt_2")
    processor.drop_next(SEND)
    services.send_or_postpone_due_usage_reports()
    next(iter(processor.meter_events.values()))["payload"]["value"] = "1"
    processor.broken = 500
    report_on(clock, timedelta(hours=25))
    processor.broken = False
    services.reconcile_billing()

    assert [status for _, _, status in reports()] == ["unresolved"]
    alarm = BillingAlarm.objects.get(kind="usage_unresolved")
    assert alarm.detail == "The processor recorded 1 cents in that minute; 0 are sent and 2 unknown."


def test_a_wrong_counter_raises_an_alarm_until_it_is_corrected() -> None:
    workspace = make_workspace()
    with transaction.atomic():
        hold_costs(workspace_id=workspace.pk, agent_id=None, charges=charges("tgt_1"), due=MARCH)
    assert services.reconcile_billing().drifting_months == 0
    MonthCounter.objects.update(settled_cents=1)

    assert services.reconcile_billing().drifting_months == 1
    alarm = BillingAlarm.objects.get()
    assert (alarm.kind, alarm.subject) == ("books", f"{workspace.pk} 2027-03")
    assert alarm.detail == (
        "The month's counter says held 10, settled 1, URL posts 0, its ledger held 10, settled 0, URL posts 0."
    )
    first_seen = alarm.first_seen_at
    services.reconcile_billing()
    assert BillingAlarm.objects.get().first_seen_at == first_seen

    MonthCounter.objects.update(settled_cents=0)
    services.reconcile_billing()
    assert open_alarms() == []
    MonthCounter.objects.update(settled_cents=2)
    services.reconcile_billing()
    assert BillingAlarm.objects.count() == 2


def test_the_command_prints_progress_and_open_alarms(processor: FakePaymentProcessor) -> None:
    make_customer("cus_1")
    processor.subscribe("cus_1")
    processor.subscribe("cus_1")
    output = StringIO()

    call_command("reconcile_billing", stdout=output)

    assert "Subscriptions: 1 workspaces, 1 had changed." in output.getvalue()
    assert "Ledger: 0 months differ." in output.getvalue()
    assert "subscriptions wrk_" in output.getvalue()

    processor.broken = 500
    with pytest.raises(CommandError, match="does not answer"):
        call_command("reconcile_billing", stdout=output)
