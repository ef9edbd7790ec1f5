"""Creates customers, checkout sessions and portal sessions at the payment processor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.urls import reverse

from billing.plans import METERED_PLAN
from billing.processor.client import processor_client


@dataclass(frozen=True)
class Session:
    """A checkout or portal page of the payment processor, valid for a limited time. Both fields are None in a preview."""

    id: str | None
    url: str | None


def create_customer(workspace_id: str, name: str) -> str:
    """Create a customer and return its id. A second call within a day returns the same customer."""
    with processor_client() as client:
        customer = client.v1.customers.create(
            {"name": name, "metadata": {"workspace_id": workspace_id}},
            {"idempotency_key": f"customer-{workspace_id}"},
        )
    return str(customer.id)


def create_checkout_session(workspace_id: str, customer_id: str, plan: str) -> Session:
    """Create a checkout page where the customer subscribes to the plan."""
    metadata = {"workspace_id": workspace_id, "plan": plan}
    with processor_client() as client:
        session = client.v1.checkout.sessions.create(
            {
                "mode": "subscription",
                "customer": customer_id,
                "client_reference_id": workspace_id,
                "line_items": _line_items(plan),
                "metadata": metadata,
                "subscription_data": {"metadata": metadata},
                "success_url": f"{_page(workspace_id)}?checkout=done",
                "cancel_url": f"{_page(workspace_id)}?checkout=cancelled",
            }
        )
    return Session(session.id, session.url)


def create_portal_session(workspace_id: str, customer_id: str) -> Session:
    """Create a portal page where the customer manages payment methods, invoices and the subscription."""
    with processor_client() as client:
        session = client.v1.billing_portal.sessions.create({"customer": customer_id, "return_url": _page(workspace_id)})
    return Session(session.id, session.url)


def _line_items(plan: str) -> list[Any]:
    """Return the plan's price and the metered price, by which every plan pays for usage beyond the free credit."""
    metered = settings.STRIPE_PRICES[METERED_PLAN]
    items: list[Any] = [{"price": metered}] if metered else []  # a metered price takes no quantity
    return items if plan == METERED_PLAN else [{"price": settings.STRIPE_PRICES[plan], "quantity": 1}, *items]


def _page(workspace_id: str) -> str:
    """Return the URL of the usage page, to which the processor redirects back."""
    return settings.BASE_URL + reverse("usage", kwargs={"workspace_id": workspace_id})
