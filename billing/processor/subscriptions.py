"""Lists and cancels a customer's subscriptions at the payment processor."""

from __future__ import annotations

from billing.errors import NotAtProcessor
from billing.processor.client import processor_client
from billing.subscription_state import SubscriptionState

MAX_SUBSCRIPTIONS = 100  # maximum of one page of the processor's API, newest first


def subscriptions_of(customer_id: str, *, retries: int = 1) -> list[SubscriptionState]:
    """Return all subscriptions of the customer, including ended ones. Raises NotAtProcessor for an unknown customer."""
    with processor_client(retries=retries) as client:
        found = client.v1.subscriptions.list(
            {"customer": customer_id, "status": "all", "limit": MAX_SUBSCRIPTIONS}
        ).data
    return [state for state in map(SubscriptionState.from_object, (one.to_dict() for one in found)) if state]


def cancel_subscription(subscription_id: str) -> None:
    """Cancel a subscription now. Open usage is invoiced; nothing that was paid in advance is refunded."""
    try:
        with processor_client(retries=0) as client:
            client.v1.subscriptions.cancel(subscription_id, {"invoice_now": True, "prorate": False})
    except NotAtProcessor:  # the subscription has already ended
        return
