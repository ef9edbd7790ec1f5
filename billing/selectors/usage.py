"""Queries of usage and bill of a month."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Sum

from agents.selectors import agent_of
from billing.caps import Period, SpendCap, month_of
from billing.models import Subscription, UsageTotal
from billing.plans import billing_mode
from billing.selectors.caps import agent_spend_cap, spend_cap
from billing.selectors.subscriptions import subscription_of
from config.api.caller import Caller, require


@dataclass(frozen=True)
class Usage:
    """Usage of a workspace or an agent in a month; `totals` as in the API. `agent_id` is "" for a whole workspace."""

    workspace_id: str
    agent_id: str
    period: Period
    totals: dict[str, Any]
    spend_cap: SpendCap


@dataclass(frozen=True)
class Bill:
    """The bill of a month in cents, with the free credit and the cap of `spend_cap`.

    `subscription` is the stored one, even if it has ended; None if there was none.
    """

    workspace_id: str
    period: Period
    mode: str
    spend_cap: SpendCap
    subscription: Subscription | None

    @property
    def projected_bill(self) -> dict[str, Any]:
        used, free = self.spend_cap.spent_cents, self.spend_cap.free_credit_cents
        return {
            "usage_cents": used,
            "free_credit_cents": free,
            "amount_due_cents": max(0, used - free),
            "currency": "USD",
        }


def usage_of(*, caller: Caller, workspace_id: str, at: datetime, cap_cents: int) -> Usage:
    """Return the workspace's usage in the UTC month of `at`, with this cap. Raises ScopeMissing, NotFound."""
    require(caller, workspace_id, "usage.read", write=False)
    cap = replace(spend_cap(workspace_id=workspace_id, at=at), cap_cents=cap_cents)
    return Usage(workspace_id, "", Period.containing(at), _totals(at, workspace_id=workspace_id), cap)


def agent_usage_of(*, caller: Caller, agent_id: str, at: datetime) -> Usage:
    """Return the agent's usage in the UTC month of `at`, with its own cap. Raises ScopeMissing, NotFound."""
    workspace_id = agent_of(caller=caller, agent_id=agent_id, scope="usage.read").workspace_id
    cap = agent_spend_cap(workspace_id=workspace_id, agent_id=agent_id, at=at)
    totals = _totals(at, workspace_id=workspace_id, agent_id=agent_id)
    return Usage(workspace_id, agent_id, Period.containing(at), totals, cap)


def bill_of(*, caller: Caller, workspace_id: str, at: datetime, cap_cents: int, free_credit_cents: int) -> Bill:
    """Return the workspace's bill of the UTC month of `at`, with this cap and free credit. Raises ScopeMissing, NotFound."""
    require(caller, workspace_id, "usage.read", write=False)
    cap = spend_cap(workspace_id=workspace_id, at=at)
    cap = replace(cap, cap_cents=cap_cents, free_credit_cents=free_credit_cents)
    return Bill(workspace_id, Period.containing(at), billing_mode(), cap, subscription_of(workspace_id=workspace_id))


def _totals(at: datetime, **holder: str) -> dict[str, Any]:
    """Return the month's usage totals, overall and by platform."""
    names = ("published", "failed", "url_posts", "spend_cents")
    rows = UsageTotal.objects.filter(**holder, month=month_of(at)).values_list("platform")
    by_platform = [
        {"platform": platform, **dict(zip(names, map(int, sums), strict=True))}
        for platform, *sums in sorted(rows.annotate(*map(Sum, names)))
    ]
    return {name: sum(each[name] for each in by_platform) for name in names} | {"by_platform": by_platform}
