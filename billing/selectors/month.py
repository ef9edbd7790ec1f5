"""Reads: a workspace's month in detail, by day and by agent, and its charges one by one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.db.models import Count, Q, QuerySet, Sum

from agents.models import Agent
from billing.caps import Period, month_of
from billing.models import BillingAlarm, LedgerEntry, MonthCounter, UsageTotal
from billing.models.books import SPENT
from config.api.caller import Caller, require

Kind = LedgerEntry.Kind
MOST_MONTHS = 36


@dataclass(frozen=True)
class DayUsage:
    """What was published of the targets that were due on a UTC day, and what was spent on them."""

    day: date
    published: int
    spend_cents: int


@dataclass(frozen=True)
class AgentShare:
    """What came of an agent's targets in a month; `agent_id` and `name` are "" for posts that no agent made."""

    agent_id: str
    name: str
    published: int
    failed: int
    spend_cents: int


def months_of(*, caller: Caller, workspace_id: str) -> list[date]:
    """The UTC months in which the workspace has held or spent something, the latest first. Raises ScopeMissing, NotFound."""
    require(caller, workspace_id, "usage.read", write=False)
    months = MonthCounter.objects.filter(holder_id=workspace_id).values_list("month", flat=True)
    return list(months.order_by("-month")[:MOST_MONTHS])


def charges_of(*, caller: Caller, workspace_id: str, at: datetime) -> QuerySet[LedgerEntry]:
    """What was spent in the UTC month of `at`, target by target, by day. Raises ScopeMissing, NotFound."""
    require(caller, workspace_id, "usage.read", write=False)
    spent = LedgerEntry.objects.filter(SPENT, workspace_id=workspace_id, month=month_of(at))
    return spent.order_by("day", "pk")


def usage_by_day(*, caller: Caller, workspace_id: str, at: datetime) -> list[DayUsage]:
    """Each day of the UTC month of `at`; its sum is the month's. Raises ScopeMissing, NotFound."""
    spent = charges_of(caller=caller, workspace_id=workspace_id, at=at).order_by("day").values_list("day")
    sums = spent.annotate(published=Count("kind", filter=Q(kind=Kind.SETTLE)), cents=Sum("cents"))
    found = {day: DayUsage(day, published, cents) for day, published, cents in sums}
    return [found.get(day) or DayUsage(day, 0, 0) for day in _days(Period.around(at))]


def usage_by_agent(*, caller: Caller, workspace_id: str, at: datetime, limit: int) -> list[AgentShare]:
    """The agents of the UTC month of `at`, the dearest first, `limit` at most. Raises ScopeMissing, NotFound."""
    require(caller, workspace_id, "usage.read", write=False)
    totals = UsageTotal.objects.filter(workspace_id=workspace_id, month=month_of(at)).values_list("agent_id")
    sums = totals.annotate(published=Sum("published"), failed=Sum("failed"), cents=Sum("spend_cents"))
    rows = list(sums.order_by("-cents", "-published", "agent_id")[:limit])
    names = dict(Agent.objects.filter(pk__in=[row[0] for row in rows]).values_list("pk", "name"))
    return [AgentShare(agent_id, names.get(agent_id, ""), *map(int, figures)) for agent_id, *figures in rows]


def open_alarms_of(*, caller: Caller, workspace_id: str, kinds: Iterable[BillingAlarm.Kind]) -> list[BillingAlarm]:
    """What of these kinds is not as it must be with the workspace's billing. Raises ScopeMissing, NotFound."""
    require(caller, workspace_id, "usage.read", write=False)
    return list(BillingAlarm.objects.filter(kind__in=list(kinds), subject=workspace_id, resolved_at=None))


def _days(period: Period) -> Iterable[date]:
    first = period.start.date()
    return (first + timedelta(days=number) for number in range((period.end - period.start).days))
