"""Queries of a workspace's usage in a month: totals, bill, days, agents, and single charges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import Count, QuerySet, Sum

from agents.models import Agent
from agents.selectors import get_accessible_agent
from billing.caps import SpendCapStatus, UtcMonth, first_day_of_utc_month
from billing.models import CORRECTION_PLATFORM, Correction, LedgerEntry, MonthCounter, Subscription, UsageTotal
from billing.selectors import (
    agent_spend_cap_status,
    spent_ledger_entries,
    subscription_of_workspace,
    workspace_spend_cap_status,
)
from billing.subscription_plans import billing_mode
from config.api.caller import Caller, require_access

EntryKind = LedgerEntry.Kind
MAX_MONTHS = 36


@dataclass(frozen=True)
class MonthUsage:
    """The result of a usage query: the totals and the spend cap of a month. `agent_id` is "" for a whole workspace."""

    workspace_id: str
    agent_id: str
    period: UtcMonth
    totals: dict[str, Any]
    spend_cap: SpendCapStatus


@dataclass(frozen=True)
class MonthBill:
    """The bill for a workspace's monthly usage, in cents, with its spend cap and free credit.

    `subscription` is the stored one, even if it has ended; None if there was none.
    """

    workspace_id: str
    period: UtcMonth
    mode: str
    spend_cap: SpendCapStatus
    subscription: Subscription | None

    @property
    def bill_so_far(self) -> dict[str, Any]:
        """Return the bill for the month's usage so far, which the API calls the projected bill; nothing is extrapolated."""
        used, free = self.spend_cap.spent_cents, self.spend_cap.free_credit_cents
        return {"usage_cents": used, "free_credit_cents": free, "amount_due_cents": max(0, used - free), "currency": "USD"}


@dataclass(frozen=True)
class DayUsage:
    """One UTC day of a workspace's monthly usage: the number of published posts, and the spending in cents."""

    day: date
    published: int
    spend_cents: int


@dataclass(frozen=True)
class AgentShareOfUsage:
    """One agent's part of a workspace's monthly usage: numbers of published and failed posts, and spending in cents.

    `agent_id` and `name` are "" for posts that no agent created.
    """

    agent_id: str
    name: str
    published: int
    failed: int
    spend_cents: int


def workspace_month_usage(*, caller: Caller, workspace_id: str, at: datetime, cap_cents: int | None) -> MonthUsage:
    """Return a workspace's monthly usage in the UTC month of `at`, with the given cap. Raises ScopeMissing, NotFound."""
    require_access(caller, workspace_id, "usage.read", write=False)
    cap = replace(workspace_spend_cap_status(workspace_id=workspace_id, at=at), cap_cents=cap_cents)
    return MonthUsage(workspace_id, "", UtcMonth.containing(at), _totals(at, workspace_id=workspace_id), cap)


def agent_month_usage(*, caller: Caller, agent_id: str, at: datetime) -> MonthUsage:
    """Return an agent's monthly usage in the UTC month of `at`, with its own spend cap. Raises ScopeMissing, NotFound."""
    workspace_id = get_accessible_agent(caller=caller, agent_id=agent_id, scope="usage.read").workspace_id
    cap = agent_spend_cap_status(workspace_id=workspace_id, agent_id=agent_id, at=at)
    totals = _totals(at, workspace_id=workspace_id, agent_id=agent_id)
    return MonthUsage(workspace_id, agent_id, UtcMonth.containing(at), totals, cap)


def workspace_month_bill(
    *, caller: Caller, workspace_id: str, at: datetime, cap_cents: int, free_credit_cents: int
) -> MonthBill:
    """Return the bill for a workspace's monthly usage, in the UTC month of `at`. Raises ScopeMissing, NotFound."""
    require_access(caller, workspace_id, "usage.read", write=False)
    cap = workspace_spend_cap_status(workspace_id=workspace_id, at=at)
    cap = replace(cap, cap_cents=cap_cents, free_credit_cents=free_credit_cents)
    return MonthBill(
        workspace_id, UtcMonth.containing(at), billing_mode(), cap, subscription_of_workspace(workspace_id=workspace_id)
    )


def _totals(at: datetime, **holder: str) -> dict[str, Any]:
    """Return the usage totals of a workspace or an agent in a month: for all platforms together, and for each platform.

    Corrections are a platform of their own, CORRECTION_PLATFORM.
    """
    names = ("published", "failed", "url_posts", "spend_cents")
    rows = UsageTotal.objects.filter(**holder, month=first_day_of_utc_month(at)).values_list("platform")
    by_platform = [
        {"platform": platform, **dict(zip(names, map(int, sums), strict=True))}
        for platform, *sums in sorted(rows.annotate(*map(Sum, names)))
    ]
    return {name: sum(each[name] for each in by_platform) for name in names} | {"by_platform": by_platform}


def months_with_reservations(*, caller: Caller, workspace_id: str) -> list[date]:
    """Return the months for which a workspace has usage to show, latest first: those in which it reserved money."""
    require_access(caller, workspace_id, "usage.read", write=False)
    months = MonthCounter.objects.filter(holder_id=workspace_id).values_list("month", flat=True)
    return list(months.order_by("-month")[:MAX_MONTHS])


def spent_ledger_entries_of_month(*, caller: Caller, workspace_id: str, at: datetime) -> QuerySet[LedgerEntry]:
    """Return the charges and corrections in a workspace's monthly usage (ledger entries), by day.

    Raises ScopeMissing, NotFound.
    """
    require_access(caller, workspace_id, "usage.read", write=False)
    return spent_ledger_entries(workspace_id=workspace_id, month=first_day_of_utc_month(at)).order_by("day", "pk")


def approved_corrections_of_month(*, caller: Caller, workspace_id: str, at: datetime) -> list[Correction]:
    """Return the approved corrections of a workspace's monthly usage, oldest first. Raises ScopeMissing, NotFound."""
    require_access(caller, workspace_id, "usage.read", write=False)
    rows = Correction.objects.filter(
        workspace_id=workspace_id, month=first_day_of_utc_month(at), status=Correction.Status.APPROVED
    )
    return list(rows.order_by("decided_at"))


def month_usage_by_day(*, caller: Caller, workspace_id: str, at: datetime) -> list[DayUsage]:
    """Return a workspace's monthly usage day by day, for the UTC month of `at`, without corrections.

    Raises ScopeMissing, NotFound.
    """
    spent = spent_ledger_entries_of_month(caller=caller, workspace_id=workspace_id, at=at).order_by("day").values_list("day")
    sums = spent.filter(kind=EntryKind.SETTLE).annotate(published=Count("kind"), cents=Sum("cents"))
    found = {day: DayUsage(day, published, cents) for day, published, cents in sums}
    return [found.get(day) or DayUsage(day, 0, 0) for day in _days(UtcMonth.containing(at))]


def usage_by_agent(*, caller: Caller, workspace_id: str, at: datetime, limit: int) -> list[AgentShareOfUsage]:
    """Return a workspace's monthly usage by agent, the highest spending first, without corrections.

    Raises ScopeMissing, NotFound.
    """
    require_access(caller, workspace_id, "usage.read", write=False)
    of_posts = UsageTotal.objects.filter(workspace_id=workspace_id, month=first_day_of_utc_month(at)).exclude(
        platform=CORRECTION_PLATFORM
    )
    totals = of_posts.values_list("agent_id")
    sums = totals.annotate(published=Sum("published"), failed=Sum("failed"), cents=Sum("spend_cents"))
    rows = list(sums.order_by("-cents", "-published", "agent_id")[:limit])
    names = dict(Agent.objects.filter(pk__in=[row[0] for row in rows]).values_list("pk", "name"))
    return [AgentShareOfUsage(agent_id, names.get(agent_id, ""), *map(int, figures)) for agent_id, *figures in rows]


def _days(period: UtcMonth) -> Iterable[date]:
    first = period.start.date()
    return (first + timedelta(days=number) for number in range((period.end - period.start).days))
