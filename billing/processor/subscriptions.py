"""The processor's truth about a customer's subscriptions."""

from __future__ import annotations

from billing.errors import NotAtProcessor
from billing.processor.client import processor_client
from billing.states import SubscriptionState

AT_MOST = 100  # one page; the processor lists the latest first


def subscriptions_of(customer_id: str, *, retries: int = 1) -> list[SubscriptionState]:
    """All of the customer's subscriptions, ended ones included. Raises NotAtProcessor for an unknown customer."""
    with processor_client(retries=retries) as client:
        found = client.v1.subscriptions.list({"customer": customer_id, "status": "all", "limit": AT_MOST}).data
    return [state for state in map(SubscriptionState.of, (one.to_dict() for one in found)) if state]


def cancel_subscription(subscription_id: str) -> None:
    """End it now. What was used and not yet invoiced is; of what was paid ahead nothing is given back."""
    try:
        with processor_client(retries=0) as client:
            client.v1.subscriptions.cancel(subscription_id, {"invoice_now": True, "prorate": False})
    except NotAtProcessor:  # it has ended meanwhile
        return
