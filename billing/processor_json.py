"""Parses the payment processor's JSON about subscriptions and their events, without database or network access.

An event says which subscription of which customer changed. Its state is then fetched from the processor, or taken from the
event's own copy if the service has no API key.

Source: Stripe's reference, Subscription, Event types; "Webhooks": events may come twice and in any order. Since API version
2025-03-31 each item has the periods, before that the subscription; items from before 2018 have a `plan` instead of a
`price`. All of these are read, since an event's copy has the API version of its endpoint, not of the client.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings

from billing.subscription_plans import METERED_PLAN, SUBSCRIPTION_PLANS

# A subscription whose last payment failed is `past_due` while the processor retries; it still pays for PAST_DUE_GRACE_DAYS,
# because a processor may be configured to leave it past due forever. Never paid (incomplete, incomplete_expired), unpaid,
# paused and canceled subscriptions do not pay.
PAST_DUE = "past_due"
PAYING_STATUSES = ("active", "trialing")
# Started and not ended.
RUNNING_STATUSES = (*PAYING_STATUSES, PAST_DUE, "paused", "unpaid")
ENDED_STATUSES = ("canceled", "incomplete_expired")
# Order of events of the same second.
CHECKOUT_EVENT_RANK, CREATED_RANK, UPDATED_RANK, DELETED_RANK = range(4)
_SUBSCRIPTION, _INVOICE = "customer.subscription.", "invoice."


@dataclass(frozen=True)
class SubscriptionState:
    """The plan, status and times of a subscription, as read from the payment processor's JSON.

    `workspace_id` is from its metadata, or else "".
    """

    subscription_id: str
    customer_id: str
    workspace_id: str
    status: str
    plan: str
    metered_item_id: str
    began_at: datetime | None
    current_period_end: datetime | None
    ended_at: datetime | None

    @classmethod
    def from_json_or_none(cls, subscription: Mapping[str, Any]) -> SubscriptionState | None:
        """Read a subscription's state from the payment processor's JSON; returns None for objects of other types."""
        subscription_id, status = subscription.get("id"), subscription.get("status")
        if (
            subscription.get("object") != "subscription"
            or not isinstance(subscription_id, str)
            or not isinstance(status, str)
        ):
            return None
        metadata, items = _as_mapping(subscription.get("metadata")), _items(subscription)
        metered = [item for item in items if _is_metered(item)]
        ends = [end for end in map(_period_end, [subscription, *items]) if end]
        return cls(
            subscription_id=subscription_id[:255],
            customer_id=_object_id(subscription.get("customer")),
            workspace_id=str(metadata.get("workspace_id") or ""),
            status=status[:32],
            plan=_plan(items, metadata),
            metered_item_id=_object_id(metered[0]) if metered else "",
            began_at=_unix_time(subscription.get("created")),
            current_period_end=min(ends, default=None),
            ended_at=_unix_time(subscription.get("ended_at")),
        )

    @property
    def has_started_and_not_ended(self) -> bool:
        return self.status in RUNNING_STATUSES

    @property
    def may_still_charge(self) -> bool:
        """Return whether the payment processor may still charge for a subscription: not if this state is an ended one."""
        return self.status not in ENDED_STATUSES


@dataclass(frozen=True)
class SubscriptionEvent:
    """An event about the state of a customer's subscription, as read from the payment processor's JSON.

    `state` is the event's own copy of the subscription, if it has one; `occurred_at` and `rank` order events.
    """

    customer_id: str
    workspace_id: str
    state: SubscriptionState | None
    occurred_at: datetime
    rank: int


def subscription_event_or_none(payload: str) -> SubscriptionEvent | None:
    """Read an event about a subscription from the payment processor's JSON; returns None for other or incomplete events."""
    event = json.loads(payload)
    obj, occurred_at = _as_mapping(event.get("data")).get("object"), _unix_time(event.get("created"))
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
    state = SubscriptionState.from_json_or_none(obj)
    if state is None:
        return None
    rank = {"created": CREATED_RANK, "deleted": DELETED_RANK}.get(kind.removeprefix(_SUBSCRIPTION), UPDATED_RANK)
    return SubscriptionEvent(state.customer_id, state.workspace_id, state, occurred_at, rank)


def _from_checkout_session(obj: Mapping[str, Any], occurred_at: datetime) -> SubscriptionEvent | None:
    """Read a finished checkout's JSON as an event about a new subscription; None if the checkout was for something else.

    The event's time is when the checkout session was opened, so that the subscription's own events always come later.
    """
    opened_at = _unix_time(obj.get("created")) or occurred_at
    if obj.get("mode") != "subscription":
        return None
    metadata = _as_mapping(obj.get("metadata"))
    workspace_id = str(metadata.get("workspace_id") or obj.get("client_reference_id") or "")
    customer_id, subscription_id = _object_id(obj.get("customer")), _object_id(obj.get("subscription"))
    state = None
    if subscription_id and obj.get("payment_status") in ("paid", "no_payment_required"):
        plan = metadata.get("plan")
        state = SubscriptionState(
            subscription_id=subscription_id,
            customer_id=customer_id,
            workspace_id=workspace_id,
            status="active",
            plan=plan if plan in SUBSCRIPTION_PLANS else METERED_PLAN,
            metered_item_id="",
            began_at=opened_at,
            current_period_end=None,
            ended_at=None,
        )
    return SubscriptionEvent(customer_id, workspace_id, state, opened_at, CHECKOUT_EVENT_RANK)


def _from_invoice(obj: Mapping[str, Any], occurred_at: datetime) -> SubscriptionEvent | None:
    """Read an invoice's JSON as an event about its subscription's state; None for an invoice without a subscription.

    An invoice has no subscription status, so the status must be fetched.
    """
    details = _as_mapping(_as_mapping(obj.get("parent")).get("subscription_details"))
    if not _object_id(details.get("subscription") or obj.get("subscription")):
        return None
    workspace_id = str(_as_mapping(details.get("metadata")).get("workspace_id") or "")
    return SubscriptionEvent(_object_id(obj.get("customer")), workspace_id, None, occurred_at, UPDATED_RANK)


def _object_id(value: object) -> str:
    """Return an object's id from the payment processor's JSON, which has the id or the whole object; else ""."""
    found = value.get("id") if isinstance(value, Mapping) else value
    return found[:255] if isinstance(found, str) else ""


def _unix_time(value: object) -> datetime | None:
    """Return a time that the payment processor's JSON gives in Unix seconds; None for other values."""
    try:
        return datetime.fromtimestamp(value, UTC) if isinstance(value, int) and not isinstance(value, bool) else None
    except (OverflowError, ValueError, OSError):
        return None


def _items(subscription: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    data = _as_mapping(subscription.get("items")).get("data")
    return [item for item in data if isinstance(item, Mapping)] if isinstance(data, Sequence) else []


def _price(item: Mapping[str, Any]) -> Mapping[str, Any]:
    return _as_mapping(item.get("price") or item.get("plan"))


def _is_metered(item: Mapping[str, Any]) -> bool:
    price = _price(item)
    usage_type = _as_mapping(price.get("recurring")).get("usage_type") or price.get("usage_type")
    return usage_type == "metered" or _is_price_of(METERED_PLAN, price)


def _plan(items: Sequence[Mapping[str, Any]], metadata: Mapping[str, Any]) -> str:
    """Return the plan in a subscription's JSON: by its most expensive known price, or else the plan in its metadata."""
    for plan in reversed(SUBSCRIPTION_PLANS):
        if any(_is_price_of(plan, _price(item)) for item in items):
            return plan
    chosen = metadata.get("plan")
    return chosen if chosen in SUBSCRIPTION_PLANS else METERED_PLAN


def _is_price_of(plan: str, price: Mapping[str, Any]) -> bool:
    price_id = settings.STRIPE_PRICES[plan]
    return bool(price_id) and price.get("id") == price_id


def _period_end(part: Mapping[str, Any]) -> datetime | None:
    return _unix_time(part.get("current_period_end"))


def _as_mapping(value: object) -> Mapping[str, Any]:
    """Return a value from the payment processor's JSON if it is a JSON object, else an empty mapping."""
    return value if isinstance(value, Mapping) else {}
