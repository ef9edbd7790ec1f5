"""Customers, and the processor's own pages for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.urls import reverse

from billing.plans import METERED_PLAN
from billing.processor.client import processor_client


@dataclass(frozen=True)
class Session:
    """A page of the processor, open for a while; both are null in a preview."""

    id: str | None
    url: str | None


def create_customer(workspace_id: str, name: str) -> str:
    """The id of a new customer; asked twice within a day, the processor answers the same one."""
    with processor_client() as client:
        customer = client.v1.customers.create(
            {"name": name, "metadata": {"workspace_id": workspace_id}},
            {"idempotency_key": f"customer-{workspace_id}"},
        )
    return str(customer.id)


def create_checkout_session(workspace_id: str, customer_id: str, plan: str) -> Session:
    """A page where the customer subscribes to the plan."""
    marks = {"workspace_id": workspace_id, "plan": plan}
    with processor_client() as client:
        made = client.v1.checkout.sessions.create(
            {
                "mode": "subscription",
                "customer": customer_id,
                "client_reference_id": workspace_id,
                "line_items": _line_items(plan),
                "metadata": marks,
                "subscription_data": {"metadata": marks},
                "success_url": f"{_page(workspace_id)}?checkout=done",
                "cancel_url": f"{_page(workspace_id)}?checkout=cancelled",
            }
        )
    return Session(made.id, made.url)


def create_portal_session(workspace_id: str, customer_id: str) -> Session:
    """A page where the customer keeps payment methods, invoices and subscription."""
    with processor_client() as client:
        made = client.v1.billing_portal.sessions.create({"customer": customer_id, "return_url": _page(workspace_id)})
    return Session(made.id, made.url)


def _line_items(plan: str) -> list[Any]:
    """The plan's price, and the metered one, by which every plan pays what goes beyond the free credit."""
    metered = settings.STRIPE_PRICES[METERED_PLAN]
    items: list[Any] = [{"price": metered}] if metered else []  # a metered price takes no quantity
    return items if plan == METERED_PLAN else [{"price": settings.STRIPE_PRICES[plan], "quantity": 1}, *items]


def _page(workspace_id: str) -> str:
    """Where the processor sends the browser back to."""
    return settings.BASE_URL + reverse("usage", kwargs={"workspace_id": workspace_id})
