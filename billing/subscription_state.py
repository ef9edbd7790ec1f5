"""Reads the state of a subscription from the payment processor's object. No database or network access.

Source: Stripe's reference, Subscription. Since API version 2025-03-31 each item has the periods, before that the
subscription; items from before 2018 have a `plan` instead of a `price`. All of these are read, since an event's copy has the
API version of its endpoint, not of the client.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings

from billing import entitlement
from billing.plans import METERED_PLAN, PLANS


@dataclass(frozen=True)
class SubscriptionState:
    """The state of a subscription at the processor. `workspace_id` comes from its metadata, "" if they have none."""

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
    def from_object(cls, subscription: Mapping[str, Any]) -> SubscriptionState | None:
        """Return the state in the processor's object; None if the object is not a subscription."""
        subscription_id, status = subscription.get("id"), subscription.get("status")
        if (
            subscription.get("object") != "subscription"
            or not isinstance(subscription_id, str)
            or not isinstance(status, str)
        ):
            return None
        metadata, items = as_mapping(subscription.get("metadata")), _items(subscription)
        metered = [item for item in items if _is_metered(item)]
        ends = [end for end in map(_period_end, [subscription, *items]) if end]
        return cls(
            subscription_id=subscription_id[:255],
            customer_id=object_id(subscription.get("customer")),
            workspace_id=str(metadata.get("workspace_id") or ""),
            status=status[:32],
            plan=_plan(items, metadata),
            metered_item_id=object_id(metered[0]) if metered else "",
            began_at=unix_time(subscription.get("created")),
            current_period_end=min(ends, default=None),
            ended_at=unix_time(subscription.get("ended_at")),
        )

    @property
    def is_running(self) -> bool:
        return self.status in entitlement.RUNNING_STATUSES

    @property
    def may_still_charge(self) -> bool:
        """Return whether the subscription has not ended, even if its first payment was not made."""
        return self.status not in entitlement.ENDED_STATUSES

    @property
    def precedence(self) -> tuple[bool, bool, float]:
        """Return the rank among a customer's subscriptions: a paying one first, then a running one, then the latest."""
        pays = self.status in (*entitlement.PAYING_STATUSES, entitlement.PAST_DUE)
        return pays, self.is_running, self.began_at.timestamp() if self.began_at else 0.0


def object_id(value: object) -> str:
    """Return the id of a processor object, given as the id or as the expanded object; "" for anything else."""
    found = value.get("id") if isinstance(value, Mapping) else value
    return found[:255] if isinstance(found, str) else ""


def unix_time(value: object) -> datetime | None:
    """Return a time given in Unix seconds; None for anything else."""
    try:
        return datetime.fromtimestamp(value, UTC) if isinstance(value, int) and not isinstance(value, bool) else None
    except (OverflowError, ValueError, OSError):
        return None


def _items(subscription: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    data = as_mapping(subscription.get("items")).get("data")
    return [item for item in data if isinstance(item, Mapping)] if isinstance(data, Sequence) else []


def _price(item: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_mapping(item.get("price") or item.get("plan"))


def _is_metered(item: Mapping[str, Any]) -> bool:
    price = _price(item)
    usage_type = as_mapping(price.get("recurring")).get("usage_type") or price.get("usage_type")
    return usage_type == "metered" or _is_price_of(METERED_PLAN, price)


def _plan(items: Sequence[Mapping[str, Any]], metadata: Mapping[str, Any]) -> str:
    """Return the most expensive plan among the item prices, else the plan in the metadata."""
    for plan in reversed(PLANS):
        if any(_is_price_of(plan, _price(item)) for item in items):
            return plan
    chosen = metadata.get("plan")
    return chosen if chosen in PLANS else METERED_PLAN


def _is_price_of(plan: str, price: Mapping[str, Any]) -> bool:
    price_id = settings.STRIPE_PRICES[plan]
    return bool(price_id) and price.get("id") == price_id


def _period_end(part: Mapping[str, Any]) -> datetime | None:
    return unix_time(part.get("current_period_end"))


def as_mapping(value: object) -> Mapping[str, Any]:
    """Return the value if it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}
