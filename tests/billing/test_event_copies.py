"""Without an API key, subscriptions are read from the events' own copies, in the order of the events."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from pytest_django import Settings

from billing import services
from billing.models import ProcessorEvent, Subscription
from tests.billing.processor_events import SECRET, event, send
from workspaces.models import Workspace

BEGAN = 1_804_000_000

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _secret_alone(settings: Settings) -> None:
    settings.STRIPE_WEBHOOK_SECRET = SECRET


def subscription(status: str, name: str = "sub_1", *, began: int = BEGAN, **marks: str) -> dict[str, Any]:
    return {"id": name, "object": "subscription", "customer": "cus_9", "status": status, "created": began, "metadata": marks}


def session(workspace: Workspace, name: str = "sub_1", **fields: Any) -> dict[str, Any]:
    return {
        "object": "checkout.session",
        "mode": "subscription",
        "payment_status": "paid",
        "customer": "cus_9",
        "client_reference_id": workspace.id,
        "subscription": name,
        "created": BEGAN - 60,
        "metadata": {"plan": "pro"},
        **fields,
    }


def stored_subscription() -> tuple[str, str, str] | None:
    """Return (subscription, plan, status) of the only subscription."""
    return Subscription.objects.values_list("subscription_id", "plan", "status").first()


def send_and_process(*events: dict[str, Any]) -> None:
    """Send and process the events one after another."""
    for each in events:
        assert send(each).status_code == 200
        assert services.process_due_events() == 1


ORDERS = list(itertools.permutations(range(4)))


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: "".join(map(str, order)))
def test_events_of_a_new_subscription_in_any_order_make_it_active(workspace: Workspace, order: tuple[int, ...]) -> None:
    marks: dict[str, Any] = {"workspace_id": workspace.id, "plan": "pro"}
    events = [
        event("customer.subscription.created", subscription("incomplete", **marks), at=BEGAN),
        event("customer.subscription.updated", subscription("active", **marks), at=BEGAN),  # in the same second
        event("checkout.session.completed", session(workspace), at=BEGAN + 2),
        event("invoice.paid", {"customer": "cus_9", "subscription": "sub_1"}, at=BEGAN),
    ]
    Workspace.objects.filter(pk=workspace.pk).update(processor_customer_id="cus_9")

    send_and_process(*(events[number] for number in order))

    assert stored_subscription() == ("sub_1", "pro", "active")


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: "".join(map(str, order)))
def test_events_of_an_ended_subscription_in_any_order_make_it_canceled(workspace: Workspace, order: tuple[int, ...]) -> None:
    marks: dict[str, Any] = {"workspace_id": workspace.id}
    events = [
        event("customer.subscription.created", subscription("active", **marks), at=BEGAN),
        event("customer.subscription.updated", subscription("past_due", **marks), at=BEGAN + 10),
        event("customer.subscription.updated", subscription("active", **marks), at=BEGAN + 20),
        event("customer.subscription.deleted", subscription("canceled", **marks), at=BEGAN + 20),
    ]

    send_and_process(*(events[number] for number in order))

    assert stored_subscription() == ("sub_1", "payg", "canceled")


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=lambda order: "".join(map(str, order)))
def test_the_end_of_an_earlier_subscription_does_not_end_the_next_one(workspace: Workspace, order: tuple[int, ...]) -> None:
    marks: dict[str, Any] = {"workspace_id": workspace.id}
    later = subscription("active", "sub_2", began=BEGAN + 50, **marks)
    events = [
        event("customer.subscription.created", subscription("active", **marks), at=BEGAN),
        event("customer.subscription.created", later, at=BEGAN + 50),
        event("customer.subscription.deleted", subscription("canceled", **marks), at=BEGAN + 60),
    ]

    send_and_process(*(events[number] for number in order))

    assert stored_subscription() == ("sub_2", "payg", "active")


def test_a_finished_checkout_starts_the_subscription_of_its_workspace(workspace: Workspace) -> None:
    send_and_process(event("checkout.session.completed", session(workspace)))

    assert stored_subscription() == ("sub_1", "pro", "active")
    workspace.refresh_from_db()
    assert (workspace.processor_customer_id, workspace.retention_tier) == ("cus_9", "pro")


@pytest.mark.parametrize(
    "fields", [{"payment_status": "unpaid"}, {"subscription": None}, {"mode": "setup"}, {"customer": None}]
)
def test_a_checkout_without_subscription_has_no_effect(workspace: Workspace, fields: dict[str, Any]) -> None:
    send_and_process(event("checkout.session.completed", session(workspace, **fields)))

    assert stored_subscription() in (None, ("", "", ""))


def test_a_repeated_event_has_no_second_effect(workspace: Workspace) -> None:
    created = event("customer.subscription.created", subscription("active", workspace_id=workspace.id), at=BEGAN)
    send_and_process(created)
    send_and_process(event("customer.subscription.deleted", subscription("canceled"), at=BEGAN + 1))

    assert send(created).status_code == 200
    assert services.process_due_events() == 0

    assert stored_subscription() == ("sub_1", "payg", "canceled")
    assert ProcessorEvent.objects.count() == 2
