"""Subscriptions and retention tiers after the processor's events, read from the processor."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from billing import services
from billing.models import BillingAlarm, ProcessorEvent, Subscription
from tests.billing.processor_events import event, send, send_and_process, subscription_of
from tests.conftest import ApiClient
from tests.fakes.payment_processor import FakePaymentProcessor
from tests.in_threads import in_threads
from workspaces.models import Workspace

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _customer(workspace: Workspace) -> None:
    Workspace.objects.filter(pk=workspace.pk).update(processor_customer_id="cus_9")


def invoice(customer: str, subscription: str = "sub_1") -> dict[str, Any]:
    parent = {"type": "subscription_details", "subscription_details": {"subscription": subscription}}
    return {"id": "in_1", "object": "invoice", "customer": customer, "parent": parent}


def session(customer: str, **marks: str) -> dict[str, Any]:
    return {
        "id": "cs_1",
        "object": "checkout.session",
        "mode": "subscription",
        "payment_status": "paid",
        "customer": customer,
        "subscription": "sub_1",
        "metadata": marks,
    }


@pytest.mark.parametrize(
    "kind", ["customer.subscription.created", "customer.subscription.updated", "customer.subscription.trial_will_end"]
)
def test_an_event_updates_the_subscription_from_the_processor(
    api: ApiClient, workspace: Workspace, processor: FakePaymentProcessor, kind: str
) -> None:
    live = processor.subscribe("cus_9", "incomplete", workspace_id=workspace.id, plan="payg")
    old = dict(live)
    live["status"] = "active"
    assert subscription_of(api, workspace) is None

    done = send_and_process(kind, old)

    assert (done.outcome, done.processed_at is not None, done.due_at) == ("applied", True, None)
    assert subscription_of(api, workspace) == {"plan": "payg", "status": "active"}
    row = Subscription.objects.get(pk=workspace.pk)
    assert (row.customer_id, row.subscription_id, row.metered_item_id) == ("cus_9", "sub_1", "si_sub_1_0")
    assert row.current_period_end == datetime.fromtimestamp(live["items"]["data"][0]["current_period_end"], UTC)


def test_finished_checkouts_and_invoices_update_the_subscription(
    api: ApiClient, workspace: Workspace, processor: FakePaymentProcessor
) -> None:
    live = processor.subscribe("cus_9", "active", workspace_id=workspace.id)

    send_and_process("checkout.session.completed", session("cus_9", workspace_id=workspace.id))
    assert subscription_of(api, workspace) == {"plan": "payg", "status": "active"}
    live["status"] = "past_due"
    send_and_process("invoice.payment_failed", invoice("cus_9"))
    assert subscription_of(api, workspace) == {"plan": "payg", "status": "past_due"}
    live["status"] = "active"
    send_and_process("invoice.paid", {"id": "in_2", "object": "invoice", "customer": "cus_9", "subscription": "sub_1"})
    assert subscription_of(api, workspace) == {"plan": "payg", "status": "active"}


def test_returning_from_checkout_alone_changes_nothing(
    api: ApiClient, workspace: Workspace, processor: FakePaymentProcessor
) -> None:
    processor.subscribe("cus_9", "active", workspace_id=workspace.id)

    services.process_due_events()

    assert subscription_of(api, workspace) is None
    assert processor.requests == ()


@pytest.mark.parametrize(
    ("prices", "marks", "plan"),
    [
        (("price_payg",), {}, "payg"),
        (("price_pro", "price_payg"), {"plan": "payg"}, "pro"),
        (("price_of_last_year",), {"plan": "scale"}, "scale"),
        (("price_of_last_year",), {"plan": "gold"}, "payg"),
        (("",), {}, "payg"),
    ],
)
def test_the_plan_is_read_from_prices_or_else_from_metadata(
    api: ApiClient,
    workspace: Workspace,
    processor: FakePaymentProcessor,
    prices: tuple[str, ...],
    marks: dict[str, str],
    plan: str,
) -> None:
    live = processor.subscribe("cus_9", prices=prices, **marks)

    send_and_process("customer.subscription.updated", live)

    assert subscription_of(api, workspace) == {"plan": plan, "status": "active"}


@pytest.mark.parametrize(
    ("before", "prices", "status", "tier"),
    [
        ("free", ("price_pro",), "active", "pro"),
        ("free", ("price_pro",), "past_due", "pro"),
        ("free", ("price_payg",), "active", "free"),
        ("pro", ("price_pro",), "canceled", "free"),
        ("pro", ("price_pro",), "unpaid", "free"),
        ("enterprise", ("price_pro",), "active", "enterprise"),
        ("enterprise", ("price_pro",), "canceled", "enterprise"),
    ],
)
def test_a_paying_plan_sets_the_retention_tier(
    workspace: Workspace, processor: FakePaymentProcessor, before: str, prices: tuple[str, ...], status: str, tier: str
) -> None:
    Workspace.objects.filter(pk=workspace.pk).update(retention_tier=before)

    send_and_process("customer.subscription.updated", processor.subscribe("cus_9", status, prices=prices))

    workspace.refresh_from_db()
    assert workspace.retention_tier == tier


def test_the_paying_subscription_counts_and_a_second_one_raises_an_alarm(
    api: ApiClient, workspace: Workspace, processor: FakePaymentProcessor
) -> None:
    first = processor.subscribe("cus_9", "active")
    second = processor.subscribe("cus_9", "active", prices=("price_pro",))

    send_and_process("customer.subscription.created", second)
    assert subscription_of(api, workspace) == {"plan": "pro", "status": "active"}
    alarm = BillingAlarm.objects.get()
    assert (alarm.kind, alarm.subject, alarm.resolved_at) == ("subscriptions", workspace.id, None)
    assert alarm.detail == "The customer has several running subscriptions: sub_1, sub_2."

    second["status"] = "canceled"
    send_and_process("customer.subscription.deleted", second)
    assert subscription_of(api, workspace) == {"plan": "payg", "status": "active"}
    assert not BillingAlarm.objects.filter(resolved_at=None).exists()

    first["status"] = "canceled"
    send_and_process("customer.subscription.deleted", first)
    assert subscription_of(api, workspace) == {"plan": "pro", "status": "canceled"}


@pytest.mark.django_db(transaction=True)
def test_ten_concurrent_copies_of_an_event_have_one_effect(
    api: ApiClient, workspace: Workspace, processor: FakePaymentProcessor
) -> None:
    created = event("customer.subscription.created", processor.subscribe("cus_9"))

    def send_and_work(_: int) -> int:
        status = send(created).status_code
        services.process_due_events()
        return int(status)

    assert in_threads(10, send_and_work) == [200] * 10
    assert services.process_due_events() == 0
    assert ProcessorEvent.objects.count() == 1
    assert processor.requests_to("subscriptions.list") == 1
    assert subscription_of(api, workspace) == {"plan": "payg", "status": "active"}


@pytest.mark.django_db(transaction=True)
def test_an_older_answer_never_replaces_a_newer_one(
    api: ApiClient, workspace: Workspace, processor: FakePaymentProcessor
) -> None:
    """One worker gets a slow answer, while the subscription ends and another worker saves that."""
    live = processor.subscribe("cus_9")
    send(event("customer.subscription.created", live))
    late = processor.hold_next("subscriptions.list")

    def slow(_: int) -> None:
        services.process_due_events()

    def quick() -> None:
        processor.wait_for(1)
        live["status"] = "canceled"
        send_and_process("customer.subscription.deleted", live)
        late.set()

    in_threads(2, lambda n: quick() if n else slow(n))

    assert subscription_of(api, workspace) == {"plan": "payg", "status": "canceled"}
    assert processor.requests_to("subscriptions.list") == 3
    assert not ProcessorEvent.objects.filter(processed_at=None).exists()
