"""Reads the payment processor's events about subscriptions. No database or network access.

An event says which subscription of which customer changed. Its state is then fetched from the processor, or taken from the
event's own copy if the service has no API key.
Source: Stripe's reference, Event types; "Webhooks": events may come twice and in any order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from billing.plans import METERED_PLAN, PLANS
from billing.subscription_state import SubscriptionState, as_mapping, object_id, unix_time

# Order of events of the same second.
SESSION_RANK, CREATED_RANK, UPDATED_RANK, DELETED_RANK = range(4)
_SUBSCRIPTION, _INVOICE = "customer.subscription.", "invoice."


@dataclass(frozen=True)
class SubscriptionEvent:
    """An event about a customer's subscription.

    `state` is the event's own copy of the subscription, if it has one; `occurred_at` and `rank` order events.
    """

    customer_id: str
    workspace_id: str
    state: SubscriptionState | None
    occurred_at: datetime
    rank: int


def parse_event(payload: str) -> SubscriptionEvent | None:
    """Return the subscription event in a payload; None for other event types, other accounts and incomplete events."""
    event = json.loads(payload)
    obj, occurred_at = as_mapping(event.get("data")).get("object"), unix_time(event.get("created"))
    # `account` is set if the event is about a connected account instead of the service's own.
    if not isinstance(obj, Mapping) or occurred_at is None or event.get("account"):
        return None
    kind = event["type"]
    if kind.startswith(_SUBSCRIPTION):
        return _from_subscription(kind, obj, occurred_at)
    if kind == "checkout.session.completed":
        return _from_checkout_session(obj, occurred_at)
    if kind.startswith(_INVOICE):
        return _from_invoice(obj, occurred_at)
    return None


def _from_subscription(kind: str, obj: Mapping[str, Any], occurred_at: datetime) -> SubscriptionEvent | None:
    state = SubscriptionState.from_object(obj)
    if state is None:
        return None
    rank = {"created": CREATED_RANK, "deleted": DELETED_RANK}.get(kind.removeprefix(_SUBSCRIPTION), UPDATED_RANK)
    return SubscriptionEvent(state.customer_id, state.workspace_id, state, occurred_at, rank)


def _from_checkout_session(obj: Mapping[str, Any], occurred_at: datetime) -> SubscriptionEvent | None:
    """Return the start of a subscription from a finished checkout session.

    Its time is when the session was opened, so that the subscription's own events always come later.
    """
    opened_at = unix_time(obj.get("created")) or occurred_at
    if obj.get("mode") != "subscription":
        return None
    metadata = as_mapping(obj.get("metadata"))
    workspace_id = str(metadata.get("workspace_id") or obj.get("client_reference_id") or "")
    customer_id, subscription_id = object_id(obj.get("customer")), object_id(obj.get("subscription"))
    state = None
    if subscription_id and obj.get("payment_status") in ("paid", "no_payment_required"):
        plan = metadata.get("plan")
        state = SubscriptionState(
            subscription_id=subscription_id,
            customer_id=customer_id,
            workspace_id=workspace_id,
            status="active",
            plan=plan if plan in PLANS else METERED_PLAN,
            metered_item_id="",
            began_at=opened_at,
            current_period_end=None,
            ended_at=None,
        )
    return SubscriptionEvent(customer_id, workspace_id, state, opened_at, SESSION_RANK)


def _from_invoice(obj: Mapping[str, Any], occurred_at: datetime) -> SubscriptionEvent | None:
    """Return a subscription's invoice as an event without state; the subscription's status shows whether it was paid."""
    details = as_mapping(as_mapping(obj.get("parent")).get("subscription_details"))
    if not object_id(details.get("subscription") or obj.get("subscription")):
        return None
    workspace_id = str(as_mapping(details.get("metadata")).get("workspace_id") or "")
    return SubscriptionEvent(object_id(obj.get("customer")), workspace_id, None, occurred_at, UPDATED_RANK)
