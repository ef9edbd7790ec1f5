"""A subscription as the payment processor describes it, read out of its object. Pure: no database, no network.

Source: Stripe's reference, Subscription. Where the periods stand has changed: since API version 2025-03-31 on each item,
before that on the subscription; items of before 2018 name a `plan` where later ones name a `price`. All are read, since an
event's copy has the version of its endpoint, not of the client.
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
    """What counts of a subscription. `workspace_id` is what its metadata say, "" when they say nothing."""

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
    def of(cls, told: Mapping[str, Any]) -> SubscriptionState | None:
        """The state that the processor's object tells; None when it is no subscription."""
        subscription_id, status = told.get("id"), told.get("status")
        if told.get("object") != "subscription" or not isinstance(subscription_id, str) or not isinstance(status, str):
            return None
        marks, items = _mapping(told.get("metadata")), _items(told)
        metered = [item for item in items if _is_metered(item)]
        ends = [end for end in map(_period_end, [told, *items]) if end]
        return cls(
            subscription_id=subscription_id[:255],
            customer_id=id_of(told.get("customer")),
            workspace_id=str(marks.get("workspace_id") or ""),
            status=status[:32],
            plan=_plan(items, marks),
            metered_item_id=id_of(metered[0]) if metered else "",
            began_at=time_of(told.get("created")),
            current_period_end=min(ends, default=None),
            ended_at=time_of(told.get("ended_at")),
        )

    @property
    def is_running(self) -> bool:
        return self.status in entitlement.RUNNING

    @property
    def may_still_cost(self) -> bool:
        """It has not come to its end, whether or not its first payment was made."""
        return self.status not in entitlement.ENDED

    @property
    def precedence(self) -> tuple[bool, bool, float]:
        """Of several subscriptions of one customer the highest counts: one that pays, one that runs, the latest."""
        pays = self.status in (*entitlement.PAYING, entitlement.PAST_DUE)
        return pays, self.is_running, self.began_at.timestamp() if self.began_at else 0.0


def id_of(value: object) -> str:
    """The id of an object that stands as its id or, expanded, as itself; "" for anything else."""
    found = value.get("id") if isinstance(value, Mapping) else value
    return found[:255] if isinstance(found, str) else ""


def time_of(value: object) -> datetime | None:
    """A time in Unix seconds; None for anything else."""
    try:
        return datetime.fromtimestamp(value, UTC) if isinstance(value, int) and not isinstance(value, bool) else None
    except (OverflowError, ValueError, OSError):
        return None


def _items(told: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    listed = _mapping(told.get("items")).get("data")
    return [item for item in listed if isinstance(item, Mapping)] if isinstance(listed, Sequence) else []


def _price(item: Mapping[str, Any]) -> Mapping[str, Any]:
    return _mapping(item.get("price") or item.get("plan"))


def _is_metered(item: Mapping[str, Any]) -> bool:
    price = _price(item)
    usage_type = _mapping(price.get("recurring")).get("usage_type") or price.get("usage_type")
    return usage_type == "metered" or _is_price_of(METERED_PLAN, price)


def _plan(items: Sequence[Mapping[str, Any]], marks: Mapping[str, Any]) -> str:
    """By the prices first, since a change in the portal leaves the metadata as they were; the dearer plan counts."""
    for plan in reversed(PLANS):
        if any(_is_price_of(plan, _price(item)) for item in items):
            return plan
    marked = marks.get("plan")
    return marked if marked in PLANS else METERED_PLAN


def _is_price_of(plan: str, price: Mapping[str, Any]) -> bool:
    wanted = settings.STRIPE_PRICES[plan]
    return bool(wanted) and price.get("id") == wanted


def _period_end(part: Mapping[str, Any]) -> datetime | None:
    return time_of(part.get("current_period_end"))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
