"""Queries of a workspace's month in detail: by day, by agent, single charges, open alarms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Count, Q, QuerySet, Sum

from agents.models import Agent
from billing.caps import Period, month_of
from billing.models import SPENT_ENTRIES, BillingAlarm, LedgerEntry, MonthCounter, UsageTotal
from config.api.caller import Caller, require

Kind = LedgerEntry.Kind
MAX_MONTHS = 36


@dataclass(frozen=True)
class DayUsage:
    """Published targets and spending of one UTC day."""

    day: date
    published: int
    spend_cents: int


@dataclass(frozen=True)
class AgentUsage:
    """Targets and spending of one agent in a month; `agent_id` and `name` are "" for posts without an agent."""

    agent_id: str
    name: str
    published: int
    failed: int
    spend_cents: int


def months_of(*, caller: Caller, workspace_id: str) -> list[date]:
    """Return the UTC months in which the workspace held or spent money, latest first. Raises ScopeMissing, NotFound."""
    require(caller, workspace_id, "usage.read", write=False)
    months = MonthCounter.objects.filter(holder_id=workspace_id).values_list("month", flat=True)
    return list(months.order_by("-month")[:MAX_MONTHS])


def charges_of(*, caller: Caller, workspace_id: str, at: datetime) -> QuerySet[LedgerEntry]:
    """Return the ledger entries spent in the UTC month of `at`, ordered by day. Raises ScopeMissing, NotFound."""
    require(caller, workspace_id, "usage.read", write=False)
    spent = LedgerEntry.objects.filter(SPENT_ENTRIES, workspace_id=workspace_id, month=month_of(at))
    return spent.order_by("day", "pk")


def usage_by_day(*, caller: Caller, workspace_id: str, at: datetime) -> list[DayUsage]:
    """Return usage and spending of each day in the UTC month of `at`. Raises ScopeMissing, NotFound."""
    spent = charges_of(caller=caller, workspace_id=workspace_id, at=at).order_by("day").values_list("day")
    sums = spent.annotate(published=Count("kind", filter=Q(kind=Kind.SETTLE)), cents=Sum("cents"))
    found = {day: DayUsage(day, published, cents) for day, published, cents in sums}
    return [found.get(day) or DayUsage(day, 0, 0) for day in _days(Period.containing(at))]


def usage_by_agent(*, caller: Caller, workspace_id: str, at: datetime, limit: int) -> list[AgentUsage]:
    """Return the month's usage by agent, the highest spending first, at most `limit`. Raises ScopeMissing, NotFound."""
    require(caller, workspace_id, "usage.read", write=False)
    totals = UsageTotal.objects.filter(workspace_id=workspace_id, month=month_of(at)).values_list("agent_id")
    sums = totals.annotate(published=Sum("published"), failed=Sum("failed"), cents=Sum("spend_cents"))
    rows = list(sums.order_by("-cents", "-published", "agent_id")[:limit])
    names = dict(Agent.objects.filter(pk__in=[row[0] for row in rows]).values_list("pk", "name"))
    return [AgentUsage(agent_id, names.get(agent_id, ""), *map(int, figures)) for agent_id, *figures in rows]


def open_alarms_of(*, caller: Caller, workspace_id: str, kinds: Iterable[BillingAlarm.Kind]) -> list[BillingAlarm]:
    """Return the workspace's open billing alarms of these kinds. Raises ScopeMissing, NotFound."""
    require(caller, workspace_id, "usage.read", write=False)
    return list(BillingAlarm.objects.filter(kind__in=list(kinds), subject=workspace_id, resolved_at=None))


def _days(period: Period) -> Iterable[date]:
    first = period.start.date()
    return (first + timedelta(days=number) for number in range((period.end - period.start).days))
