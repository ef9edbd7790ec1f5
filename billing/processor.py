"""The payment processor: customers, checkout and portal sessions through Stripe's API. Every fault is BillingUnavailable."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import stripe
from django.conf import settings

from billing.errors import BillingUnavailable
from billing.plans import METERED_PLAN

TIMEOUT_SECONDS = 10
# The states of a subscription but those before its first payment and after its end (Stripe's reference: Subscription).
RUNNING = ("active", "past_due", "paused", "trialing", "unpaid")
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Session:
    """A page of the processor, open for a while; both are null in a preview."""

    id: str | None
    url: str | None


def create_customer(workspace_id: str, name: str) -> str:
    """The id of a new customer; asked twice within a day, the processor answers the same one."""
    with _client() as client:
        customer = client.v1.customers.create(
            {"name": name, "metadata": {"workspace_id": workspace_id}},
            {"idempotency_key": f"customer-{workspace_id}"},
        )
    return str(customer.id)


def has_subscription(customer_id: str) -> bool:
    """Whether the customer has a subscription that was begun and has not ended."""
    with _client() as client:
        found = client.v1.subscriptions.list({"customer": customer_id, "limit": 100}).data
    return any(subscription.status in RUNNING for subscription in found)


def create_checkout_session(workspace_id: str, customer_id: str, plan: str) -> Session:
    """A page where the customer subscribes to the plan."""
    marks = {"workspace_id": workspace_id, "plan": plan}
    with _client() as client:
        made = client.v1.checkout.sessions.create(
            {
                "mode": "subscription",
                "customer": customer_id,
                "client_reference_id": workspace_id,
                "line_items": _line_items(plan),
                "metadata": marks,
                "subscription_data": {"metadata": marks},
                "success_url": f"{_page()}?checkout=done",
                "cancel_url": f"{_page()}?checkout=cancelled",
            }
        )
    return Session(made.id, made.url)


def create_portal_session(customer_id: str) -> Session:
    """A page where the customer keeps payment methods, invoices and subscription."""
    with _client() as client:
        made = client.v1.billing_portal.sessions.create({"customer": customer_id, "return_url": _page()})
    return Session(made.id, made.url)


def _line_items(plan: str) -> list[Any]:
    """The plan's price, and the metered one, by which every plan pays what goes beyond the free credit."""
    metered = settings.STRIPE_PRICES[METERED_PLAN]
    items: list[Any] = [{"price": metered}] if metered else []  # a metered price takes no quantity
    return items if plan == METERED_PLAN else [{"price": settings.STRIPE_PRICES[plan], "quantity": 1}, *items]


def _page() -> str:
    return f"{settings.BASE_URL}/dashboard/billing"


@contextmanager
def _client() -> Iterator[stripe.StripeClient]:
    try:
        yield stripe.StripeClient(
            settings.STRIPE_SECRET_KEY,
            base_addresses={"api": settings.STRIPE_API_BASE},
            http_client=stripe.RequestsClient(timeout=TIMEOUT_SECONDS),
            max_network_retries=1,
        )
    except stripe.StripeError as error:
        fault = (type(error).__name__, error.http_status, error.code, error.request_id)
        logger.warning("The payment processor did not serve a request: %s, status %s, code %s, request %s", *fault)
        raise BillingUnavailable(
            "The payment processor does not answer as it should.",
            suggested_action="Try again after the time in Retry-After.",
            headers={"Retry-After": "30"},
        ) from error
