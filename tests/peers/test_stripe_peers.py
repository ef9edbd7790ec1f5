"""Billing against independent stand-ins of Stripe, which are started on loopback by hand.

LOCALSTRIPE_URL names a localstripe: customers, subscriptions, webhooks signed as the processor signs them.
EMULATE_URL names an emulate with its stripe service: checkout sessions with a page of their own.
"""

from __future__ import annotations

import os
import secrets
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from pytest_django import Settings

from billing import processor, services
from billing.models import ProcessorEvent, Subscription
from billing.tasks import cancel_subscriptions_of_deleted_workspaces
from tests.billing.processor_events import subscription_of
from tests.conftest import ApiClient
from tests.fakes.receiver import Receiver
from tests.people import as_user
from workspaces.models import User, Workspace

LOCALSTRIPE = os.environ.get("LOCALSTRIPE_URL", "").rstrip("/")
EMULATE = os.environ.get("EMULATE_URL", "").rstrip("/")
KEY, SECRET = "sk_test_of_the_peer", "whsec_of_the_peer"
HOOK = "/billing/webhooks/processor"

pytestmark = [pytest.mark.peer, pytest.mark.django_db(transaction=True)]
localstripe = pytest.mark.skipif(not LOCALSTRIPE, reason="LOCALSTRIPE_URL names no localstripe to test against")
emulate = pytest.mark.skipif(not EMULATE, reason="EMULATE_URL names no emulate to test against")


@pytest.fixture
def paid(settings: Settings) -> Settings:
    settings.STRIPE_SECRET_KEY, settings.STRIPE_WEBHOOK_SECRET = KEY, SECRET
    settings.STRIPE_PRICES = {"payg": "", "pro": "", "scale": ""}
    settings.OUTBOUND_ALLOW_LOOPBACK = True
    return settings


def ask(base: str, method: str, path: str, **form: str) -> Any:
    """Call the stand-in itself, without the service."""
    answer = requests.request(method, base + path, data=form, auth=(KEY, ""), timeout=10)  # noqa: TID251
    assert answer.status_code < 400, answer.text
    return answer.json() if answer.content else None


def forward(receiver: Receiver, kind: str) -> bytes:
    """Forward the stand-in's signed events unchanged to the service up to one of this kind; return its body."""
    for number in range(1, 20):
        sent = receiver.wait_for(number, timeout=10)[number - 1]
        answer = ApiClient().post(HOOK, sent.body, stripe_signature=sent.headers["stripe-signature"])
        assert (answer.status_code, answer.json()) == (200, {"received": True})
        if sent.json()["type"] == kind:
            return sent.body
    raise AssertionError(f"The peer sends no {kind}.")


@pytest.fixture
def known(workspace: Workspace, paid: Settings) -> Workspace:
    """Return a workspace that localstripe knows as a customer, with its plan's price."""
    price = f"price_{secrets.token_hex(6)}"
    paid.STRIPE_API_BASE, paid.STRIPE_PRICES = LOCALSTRIPE, {"payg": price, "pro": "", "scale": ""}
    product = ask(LOCALSTRIPE, "POST", "/v1/products", name="Posts", type="service")["id"]
    plan = {"id": price, "product": product, "amount": "0", "currency": "usd", "interval": "month"}
    ask(LOCALSTRIPE, "POST", "/v1/plans", **plan)
    workspace.processor_customer_id = processor.create_customer(workspace.pk, workspace.name)
    workspace.save()
    return workspace


def subscribe(workspace: Workspace, price: str) -> str:
    """Start a subscription as the processor's page does; return its id."""
    form = {"customer": workspace.processor_customer_id, "items[0][plan]": price}
    marks = {"metadata[workspace_id]": workspace.pk, "metadata[plan]": "payg"}
    return str(ask(LOCALSTRIPE, "POST", "/v1/subscriptions", **form, **marks)["id"])


@localstripe
def test_signed_subscription_events_are_verified_and_applied(api: ApiClient, known: Workspace, paid: Settings) -> None:
    with Receiver() as receiver:
        hook = f"/_config/webhooks/{secrets.token_hex(4)}"
        ask(LOCALSTRIPE, "POST", hook, url=receiver.url, secret=SECRET)
        name = subscribe(known, paid.STRIPE_PRICES["payg"])
        forward(receiver, "customer.subscription.created")
        services.process_due_events()
        assert subscription_of(api, known) == {"plan": "payg", "status": "active"}
        assert Subscription.objects.get().subscription_id == name

        ask(LOCALSTRIPE, "DELETE", f"/v1/subscriptions/{name}")
        event = forward(receiver, "customer.subscription.deleted")
        services.process_due_events()
        assert subscription_of(api, known) == {"plan": "payg", "status": "canceled"}

        signature = receiver.requests[-1].headers["stripe-signature"]
        forged = ApiClient().post(HOOK, event.replace(b"canceled", b"active"), stripe_signature=signature)
        assert forged.status_code == 400
    assert not ProcessorEvent.objects.filter(processed_at=None).exists()


@localstripe
def test_reconciliation_reads_the_subscription_and_deletion_ends_it(api: ApiClient, known: Workspace, paid: Settings) -> None:
    name = subscribe(known, paid.STRIPE_PRICES["payg"])
    assert services.reconcile_billing().subscriptions_changed == 1
    assert subscription_of(api, known) == {"plan": "payg", "status": "active"}

    assert api.delete(f"/workspaces/{known.pk}").status_code == 200
    assert [cancel_subscriptions_of_deleted_workspaces() for _ in range(2)] == [1, 0]

    assert ask(LOCALSTRIPE, "GET", f"/v1/subscriptions/{name}")["status"] == "canceled"


@localstripe
def test_a_customer_unknown_to_the_processor_is_not_found(known: Workspace, paid: Settings, workspace: Workspace) -> None:
    Workspace.objects.update(processor_customer_id="cus_of_nobody")

    assert services.reconcile_billing().complete
    assert not Subscription.objects.exclude(status="").exists()


@emulate
def test_a_checkout_opens_the_processors_page_and_payment_without_an_event_changes_nothing(
    api: ApiClient, workspace: Workspace, owner: User, paid: Settings
) -> None:
    paid.STRIPE_API_BASE = EMULATE
    product = ask(EMULATE, "POST", "/v1/products", name="Pro")["id"]
    price = ask(EMULATE, "POST", "/v1/prices", product=product, currency="usd", unit_amount="900")["id"]
    paid.STRIPE_PRICES = {"payg": "", "pro": price, "scale": ""}

    answer = as_user(owner).post("/billing/checkout-sessions", {"workspace_id": workspace.pk, "plan": "pro"})

    assert answer.status_code == 200, answer.content
    page = urlsplit(answer.json()["session"]["url"])
    assert requests.get(f"{EMULATE}{page.path}", timeout=10).status_code == 200  # noqa: TID251
    session = answer.json()["session"]["id"]
    requests.post(f"{EMULATE}/checkout/{session}/complete", timeout=10, allow_redirects=False)  # noqa: TID251
    assert ask(EMULATE, "GET", f"/v1/checkout/sessions/{session}")["status"] == "complete"
    services.process_due_events()
    assert subscription_of(api, workspace) is None
