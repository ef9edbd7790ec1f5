"""Processing of the processor's events: which ones have an effect, and retries."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from pytest_django import Settings

from billing import services
from billing.models import BillingAlarm, Subscription
from billing.worker_loops import ProcessorEventsLoop
from tests import factories
from tests.billing.processor_events import event, send, send_and_process, subscription_of
from tests.conftest import ApiClient
from tests.fakes.payment_processor import FakePaymentProcessor
from workspaces.models import Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)

STRANGE = [
    ("customer.subscription.created", {"id": "sub_7", "object": "subscription", "status": "active"}),
    ("customer.subscription.created", {"object": "subscription", "customer": "cus_9", "status": "active"}),
    ("customer.subscription.created", {"id": ["sub"], "object": "subscription", "customer": {}, "status": 1}),
    ("customer.subscription.created", {}),
    ("checkout.session.completed", {"mode": "payment", "customer": "cus_9"}),
    ("invoice.paid", {"customer": "cus_9"}),
    ("invoice.paid", {"customer": ["cus_9"], "parent": "sub_1"}),
]


@pytest.fixture(autouse=True)
def _customer(workspace: Workspace) -> None:
    Workspace.objects.filter(pk=workspace.pk).update(processor_customer_id="cus_9")


def test_an_event_of_another_type_has_no_effect(processor: FakePaymentProcessor) -> None:
    for kind in ("payment_intent.succeeded", "customer.updated", "checkout.session.expired", "no such kind"):
        assert send_and_process(kind, {"id": "x_1", "customer": "cus_9"}).outcome == "ignored"

    assert processor.requests == ()


@pytest.mark.parametrize(("kind", "thing"), STRANGE)
def test_an_incomplete_event_is_ignored(processor: FakePaymentProcessor, kind: str, thing: dict[str, Any]) -> None:
    assert send_and_process(kind, thing).outcome == "ignored"
    assert not Subscription.objects.exists()


@pytest.mark.parametrize("further", [{"account": "acct_other"}, {"created": None}, {"data": None}, {"data": {}}])
def test_an_event_of_another_account_is_ignored(processor: FakePaymentProcessor, further: dict[str, Any]) -> None:
    assert send_and_process("customer.subscription.created", processor.subscribe("cus_9"), **further).outcome == "ignored"
    assert not Subscription.objects.exists()


def test_an_event_must_match_the_stored_customer(
    workspace: Workspace, processor: FakePaymentProcessor, caplog: pytest.LogCaptureFixture
) -> None:
    other = factories.WorkspaceFactory.create(processor_customer_id="cus_other")
    untold = [
        processor.subscribe("cus_unknown"),
        processor.subscribe("cus_unknown", workspace_id="wrk_none"),
        processor.subscribe("cus_unknown", workspace_id=workspace.id),
        processor.subscribe("cus_other", workspace_id=workspace.id),
        processor.subscribe("cus_9", workspace_id=other.id),
    ]

    for live in untold:
        assert send_and_process("customer.subscription.created", live).outcome == "ignored"

    assert not Subscription.objects.exists()
    assert caplog.text.count("is not about a customer of this service") == len(untold)
    assert processor.requests == ()


def test_a_workspace_without_customer_gets_the_one_in_the_event(
    api: ApiClient, workspace: Workspace, processor: FakePaymentProcessor
) -> None:
    Workspace.objects.update(processor_customer_id="")
    live = processor.subscribe("cus_7", workspace_id=workspace.id)

    assert send_and_process("customer.subscription.created", live).outcome == "applied"

    workspace.refresh_from_db()
    assert workspace.processor_customer_id == "cus_7"
    assert subscription_of(api, workspace) == {"plan": "payg", "status": "active"}


def test_a_customers_subscription_for_another_workspace_is_ignored(
    api: ApiClient, workspace: Workspace, processor: FakePaymentProcessor
) -> None:
    own = processor.subscribe("cus_9", "canceled", workspace_id=workspace.id)
    processor.subscribe("cus_9", "active", workspace_id="wrk_other")

    send_and_process("customer.subscription.deleted", own)

    assert subscription_of(api, workspace) == {"plan": "payg", "status": "canceled"}


def test_an_unknown_customer_changes_nothing(workspace: Workspace, processor: FakePaymentProcessor) -> None:
    named = factories.WorkspaceFactory.create()
    processor.unknown_customers |= {"cus_9", "cus_of_a_test"}
    for live in (processor.subscribe("cus_9"), processor.subscribe("cus_of_a_test", workspace_id=named.pk)):
        assert send_and_process("customer.subscription.created", live).outcome == "ignored"

    assert not Subscription.objects.exclude(status="").exists()
    named.refresh_from_db()
    assert named.processor_customer_id == ""


@pytest.mark.parametrize("broken", [500, 429, True])
def test_an_event_is_retried_while_the_processor_does_not_answer(
    api: ApiClient, workspace: Workspace, processor: FakePaymentProcessor, broken: int | bool
) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        processor.broken = broken
        stored = send_and_process("customer.subscription.created", processor.subscribe("cus_9"))
        waits = []
        for _ in range(4):
            assert stored.due_at
            waits.append((stored.due_at - datetime.now(UTC)).total_seconds())
            assert services.process_due_events() == 0
            clock.move_to(stored.due_at)
            services.process_due_events()
            stored.refresh_from_db()
        assert waits == [5, 30, 120, 600]
        assert subscription_of(api, workspace) is None
        alarm = BillingAlarm.objects.get()
        assert (alarm.kind, alarm.subject) == ("events", stored.event_id)

        processor.broken = False
        clock.shift(timedelta(hours=1))
        assert services.process_due_events() == 1
        assert subscription_of(api, workspace) == {"plan": "payg", "status": "active"}
        alarm.refresh_from_db()
        assert alarm.resolved_at == datetime.now(UTC)


def test_an_event_is_given_up_after_a_day_with_an_alarm(
    api: ApiClient, workspace: Workspace, processor: FakePaymentProcessor
) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        processor.broken = 503
        stored = send_and_process("customer.subscription.created", processor.subscribe("cus_9"))
        while stored.due_at:
            clock.move_to(stored.due_at)
            services.process_due_events()
            stored.refresh_from_db()
        assert (stored.outcome, stored.processed_at) == ("given_up", None)
        assert timedelta(hours=24) <= datetime.now(UTC) - NOON < timedelta(hours=26)
        assert BillingAlarm.objects.filter(kind="events", resolved_at=None).count() == 1

        processor.broken = False
        services.reconcile_billing()
        assert subscription_of(api, workspace) == {"plan": "payg", "status": "active"}
        assert not BillingAlarm.objects.filter(resolved_at=None).exists()


def test_without_an_api_key_an_old_event_is_applied_once(
    api: ApiClient, workspace: Workspace, processor: FakePaymentProcessor, settings: Settings
) -> None:
    settings.STRIPE_SECRET_KEY = ""
    live = processor.subscribe("cus_9")

    assert send_and_process("customer.subscription.created", live, at=int(time.time()) - 86_400).outcome == "applied"
    assert subscription_of(api, workspace) == {"plan": "payg", "status": "active"}
    assert processor.requests == ()


@pytest.mark.django_db(transaction=True)
def test_the_worker_loop_processes_events_one_by_one(
    api: ApiClient, workspace: Workspace, processor: FakePaymentProcessor
) -> None:
    duty = ProcessorEventsLoop()
    duty.start()
    try:
        send(event("customer.subscription.created", processor.subscribe("cus_9")))
        processor.wait_for(1)
    finally:
        duty.stop_and_wait(5)

    assert subscription_of(api, workspace) == {"plan": "payg", "status": "active"}
