"""The payment processor's events as the service reads them. Pure: no database, no network.

Only events about subscriptions have an effect. Which subscription and whose is read here; how it stands is asked of the
processor itself, or believed from the event's own copy where the service has no key to ask with.
Source: Stripe's reference, Event types; "Webhooks": events may come twice and in any order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from billing.plans import METERED_PLAN, PLANS
from billing.states import SubscriptionState, id_of, time_of

# Of two events of one second, the one of the higher rank comes after the other.
SESSION, CREATED, UPDATED, DELETED = range(4)
_SUBSCRIPTION, _INVOICE = "customer.subscription.", "invoice."


@dataclass(frozen=True)
class Occurrence:
    """Something that happened to a customer's subscription.

    `state` is the event's own copy of the subscription, where it has one; `told_at` and `rank` say when it was true.
    """

    customer_id: str
    workspace_id: str
    state: SubscriptionState | None
    told_at: datetime
    rank: int


def occurrence_of(payload: str) -> Occurrence | None:
    """What the event tells; None when it has no effect here: another kind, another account's, or not to be read."""
    event = json.loads(payload)
    told, told_at = event.get("data"), time_of(event.get("created"))
    thing = told.get("object") if isinstance(told, Mapping) else None
    # `account` names a connected account whose event this is: not the service's own.
    if not isinstance(thing, Mapping) or told_at is None or event.get("account"):
        return None
    kind = event["type"]
    if kind.startswith(_SUBSCRIPTION):
        return _of_subscription(kind, thing, told_at)
    if kind == "checkout.session.completed":
        return _of_session(thing, told_at)
    if kind.startswith(_INVOICE):
        return _of_invoice(thing, told_at)
    return None


def _of_subscription(kind: str, thing: Mapping[str, Any], told_at: datetime) -> Occurrence | None:
    state = SubscriptionState.of(thing)
    if state is None:
        return None
    rank = {"created": CREATED, "deleted": DELETED}.get(kind.removeprefix(_SUBSCRIPTION), UPDATED)
    return Occurrence(state.customer_id, state.workspace_id, state, told_at, rank)


def _of_session(thing: Mapping[str, Any], told_at: datetime) -> Occurrence | None:
    """A finished checkout says that a subscription has begun, and nothing of what became of it since.

    It counts as of when the page was opened, so that whatever the subscription's own events say comes after it.
    """
    opened_at = time_of(thing.get("created")) or told_at
    if thing.get("mode") != "subscription":
        return None
    marks = thing.get("metadata")
    marks = marks if isinstance(marks, Mapping) else {}
    workspace_id = str(marks.get("workspace_id") or thing.get("client_reference_id") or "")
    customer_id, subscription_id = id_of(thing.get("customer")), id_of(thing.get("subscription"))
    state = None
    if subscription_id and thing.get("payment_status") in ("paid", "no_payment_required"):
        plan = marks.get("plan")
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
    return Occurrence(customer_id, workspace_id, state, opened_at, SESSION)


def _of_invoice(thing: Mapping[str, Any], told_at: datetime) -> Occurrence | None:
    """An invoice of a subscription: a reason to look; whether it was paid shows in the subscription's own status."""
    parent = thing.get("parent")
    details = parent.get("subscription_details") if isinstance(parent, Mapping) else None
    details = details if isinstance(details, Mapping) else {}
    if not id_of(details.get("subscription") or thing.get("subscription")):
        return None
    marks = details.get("metadata")
    workspace_id = str(marks.get("workspace_id") or "") if isinstance(marks, Mapping) else ""
    return Occurrence(id_of(thing.get("customer")), workspace_id, None, told_at, UPDATED)
