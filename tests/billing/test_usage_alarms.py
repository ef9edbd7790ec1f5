"""Alarms for usage that cannot be reported, and pauses of the worker loop."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import transaction
from pytest_django import Settings

from billing import services
from billing.models import BillingAlarm, Subscription, UsageReport
from billing.worker_loops import UsageReportsLoop
from tests.billing.holds import hold_costs
from tests.billing.rows import MARCH, charges
from tests.billing.usage_reports import SEND, report_on, reports, spend
from tests.fakes.payment_processor import FakePaymentProcessor
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


def test_a_refused_report_raises_an_alarm_until_it_is_accepted(
    payer: Workspace, processor: FakePaymentProcessor, clock: time_machine.Traveller
) -> None:
    spend(payer, "tgt_1", "tgt_2")
    processor.event_names.clear()
    report_on(clock, timedelta(hours=30))
    alarm = BillingAlarm.objects.get()
    assert (alarm.kind, alarm.subject, alarm.resolved_at) == ("usage_refused", payer.pk, None)

    processor.event_names.add("social_publishing_cents")
    report_on(clock, timedelta(hours=1))

    assert reports() == [("tgt_2", 2, "sent")]
    alarm.refresh_from_db()
    assert alarm.resolved_at is not None


@pytest.mark.parametrize("status", ["", "canceled", "unpaid", "paused"])
def test_usage_without_a_paying_subscription_waits_and_raises_an_alarm(
    payer: Workspace, processor: FakePaymentProcessor, clock: time_machine.Traveller, status: str
) -> None:
    spend(payer, "tgt_1")
    with transaction.atomic():
        hold_costs(workspace_id=payer.pk, agent_id=None, charges=charges("tgt_2", "tgt_3", cents=6), due=MARCH)
    Subscription.objects.update(status=status)
    with transaction.atomic():
        for target in ("tgt_2", "tgt_3"):
            services.settle_holds_as_spent(target_ids=[target])

    report_on(clock, timedelta(hours=5))

    assert processor.requests_to(SEND) == 0
    assert reports() == [("tgt_2", 2, "pending"), ("tgt_3", 6, "pending")]
    alarm = BillingAlarm.objects.get()
    assert (alarm.kind, alarm.subject, alarm.resolved_at) == ("usage_waits", payer.pk, None)
    assert alarm.detail.startswith("8 cents beyond the free credit cannot be reported")

    processor.subscribe("cus_9")
    services.reconcile_billing()
    services.send_or_postpone_due_usage_reports()

    assert processor.recorded_cents("cus_9") == 8
    alarm.refresh_from_db()
    assert alarm.resolved_at == datetime.now(UTC)


def test_the_worker_loop_pauses_after_an_unanswered_attempt(
    payer: Workspace, processor: FakePaymentProcessor, clock: time_machine.Traveller
) -> None:
    spend(payer, *(f"tgt_{number}" for number in range(40)), cents=10)
    duty = UsageReportsLoop()
    processor.broken = 500
    sent = []
    for _ in range(6):
        duty.run_once()
        duty.run_once()  # within the pause: nothing
        sent.append(len(processor.requests))
        clock.shift(timedelta(minutes=5))
    assert sent == [8, 9, 10, 11, 12, 13]
    assert UsageReport.objects.filter(unknown_since__isnull=False).count() == 8

    processor.broken = False
    for _ in range(12):
        duty.run_once()
        clock.shift(timedelta(minutes=15))
    assert {status for _, _, status in reports()} == {"sent"}
    assert processor.recorded_cents("cus_9") == 390


def test_the_worker_loop_sends_nothing_in_free_beta(
    payer: Workspace, processor: FakePaymentProcessor, settings: Settings
) -> None:
    spend(payer, "tgt_1", "tgt_2")
    settings.STRIPE_SECRET_KEY = ""

    assert UsageReportsLoop().run_once() is False
    assert processor.requests == ()
