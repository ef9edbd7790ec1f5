"""Subscriptions of deleted workspaces are cancelled at the processor, with an alarm until that succeeds."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.db import transaction
from pytest_django import Settings

from billing import services
from billing.models import BillingAlarm, Subscription
from billing.tasks import cancel_subscriptions_of_deleted_workspaces
from tests import factories
from tests.billing.holds import hold_costs
from tests.billing.processor_events import send_and_process
from tests.billing.rows import MARCH, charges
from tests.billing.usage_reports import spend
from tests.conftest import ApiClient
from tests.fakes.payment_processor import FakePaymentProcessor
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db

CANCEL = "subscriptions.cancel"


def delete(workspace: Workspace) -> None:
    assert ApiClient(factories.workspace_key(workspace)).delete(f"/workspaces/{workspace.id}").status_code == 200


def test_running_subscriptions_are_cancelled_and_usage_is_invoiced(payer: Workspace, processor: FakePaymentProcessor) -> None:
    live = [processor.subscribe("cus_9", status) for status in ("active", "past_due", "incomplete", "canceled")]
    others = processor.subscribe("cus_other")
    assert cancel_subscriptions_of_deleted_workspaces() == 0
    delete(payer)

    assert [cancel_subscriptions_of_deleted_workspaces() for _ in range(2)] == [1, 0]

    assert [each["status"] for each in (*live, others)] == ["canceled"] * 4 + ["active"]
    cancels = [request for request in processor.requests if request.method == "DELETE"]
    assert [request.query for request in cancels] == [{"invoice_now": "true", "prorate": "false"}] * 3
    row = Subscription.objects.get(pk=payer.pk)
    assert (row.status, row.closed_at is not None) == ("canceled", True)
    assert not BillingAlarm.objects.exists()


def test_a_failed_cancellation_raises_an_alarm_and_is_retried(
    payer: Workspace, processor: FakePaymentProcessor, clock: time_machine.Traveller
) -> None:
    live = processor.subscribe("cus_9")
    delete(payer)
    processor.fail_next(CANCEL, 500, times=2)

    for _ in range(2):
        assert cancel_subscriptions_of_deleted_workspaces() == 0
        alarm = BillingAlarm.objects.get()
        assert (alarm.kind, alarm.subject, alarm.resolved_at) == ("deleted", payer.pk, None)
        clock.shift(timedelta(minutes=1))
    assert cancel_subscriptions_of_deleted_workspaces() == 1

    assert live["status"] == "canceled"
    alarm.refresh_from_db()
    assert alarm.resolved_at is not None


def test_a_failed_cancellation_does_not_block_other_workspaces(payer: Workspace, processor: FakePaymentProcessor) -> None:
    other = factories.WorkspaceFactory.create(processor_customer_id="cus_other")
    live = processor.subscribe("cus_other")
    processor.unknown_customers.add("cus_9")
    for workspace in (payer, other):
        delete(workspace)

    assert [cancel_subscriptions_of_deleted_workspaces() for _ in range(2)] in ([0, 1], [1, 0])

    assert live["status"] == "canceled"
    assert BillingAlarm.objects.get(resolved_at=None).subject == payer.pk


def test_pending_usage_delays_the_cancellation_by_up_to_an_hour(
    payer: Workspace, processor: FakePaymentProcessor, clock: time_machine.Traveller
) -> None:
    live = processor.subscribe("cus_9")
    spend(payer, "tgt_1", "tgt_2")
    delete(payer)
    assert cancel_subscriptions_of_deleted_workspaces() == 0
    services.send_or_postpone_due_usage_reports()
    assert cancel_subscriptions_of_deleted_workspaces() == 1

    assert live["status"] == "canceled"
    assert processor.recorded_cents("cus_9") == 2
    paths = [(request.method, request.path) for request in processor.requests]
    assert paths.index(("POST", "/v1/billing/meter_events")) < paths.index(("DELETE", "/v1/subscriptions/sub_1"))


def test_held_money_delays_the_cancellation_by_up_to_an_hour(
    payer: Workspace, processor: FakePaymentProcessor, clock: time_machine.Traveller
) -> None:
    live = processor.subscribe("cus_9")
    with transaction.atomic():
        hold_costs(workspace_id=payer.pk, agent_id=None, charges=charges("tgt_1"), due=MARCH)
    delete(payer)
    clock.shift(timedelta(minutes=59))
    assert cancel_subscriptions_of_deleted_workspaces() == 0
    clock.shift(timedelta(minutes=2))

    assert cancel_subscriptions_of_deleted_workspaces() == 1
    assert live["status"] == "canceled"


def test_a_subscription_started_after_the_deletion_is_cancelled(payer: Workspace, processor: FakePaymentProcessor) -> None:
    delete(payer)
    assert cancel_subscriptions_of_deleted_workspaces() == 1
    late = processor.subscribe("cus_9", workspace_id=payer.pk)

    send_and_process("customer.subscription.created", late)

    assert [cancel_subscriptions_of_deleted_workspaces() for _ in range(2)] == [1, 0]
    assert late["status"] == "canceled"


def test_without_an_api_key_a_running_subscription_raises_an_alarm(
    payer: Workspace, processor: FakePaymentProcessor, settings: Settings
) -> None:
    quiet = factories.WorkspaceFactory.create(processor_customer_id="cus_other")
    for workspace in (payer, quiet):
        delete(workspace)
    settings.STRIPE_SECRET_KEY = ""

    assert cancel_subscriptions_of_deleted_workspaces() == 0
    assert BillingAlarm.objects.get().subject == payer.pk
