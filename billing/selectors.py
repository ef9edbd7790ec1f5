"""Queries of billing: checks of charges against the caps, subscriptions, and differences between counters and ledger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import NamedTuple

from django.db.models import Case, F, QuerySet, Subquery, Sum, Value, When
from django.utils import timezone

from agents.models import Agent
from billing.caps import ChargeTotals, MonthlyCaps, SpendCapStatus, WorkspaceAndAgentCaps, first_day_of_utc_month, utc_day_of
from billing.models import (
    SPENT_ENTRIES_CONDITION,
    BillingAlarm,
    Correction,
    DayCounter,
    LedgerEntry,
    MonthCounter,
    Subscription,
    UsageReport,
)
from billing.prices import PublishingCharge
from billing.subscription_plans import has_payment_processor
from config.api.caller import Caller, require_access
from config.db.fixed_select import FixedSelect
from workspaces.models import Workspace


def check_charges_and_return_spending(
    *,
    workspace_id: str,
    agent_id: str | None,
    charges: Sequence[PublishingCharge],
    due: datetime,
    instead_of: Sequence[str] = (),
) -> SpendCapStatus:
    """Billing query: read all caps and counters, and check charges; returns the workspace's spend cap and new spending.

    Holds of the targets in `instead_of` count as released. Raises the errors of `run_writes_reserving_money`:
    SpendCapExceeded, UrlPostCapExceeded, PaymentMethodRequired, PostsPerDayCapExceeded.
    """
    return check_charges_against_caps_by_due_time(
        workspace_id=workspace_id, agent_id=agent_id, parts=[(due, charges)], instead_of=instead_of
    )


def check_charges_against_caps_by_due_time(
    *,
    workspace_id: str,
    agent_id: str | None,
    parts: Sequence[tuple[datetime, Sequence[PublishingCharge]]],
    instead_of: Sequence[str] = (),
) -> SpendCapStatus:
    """Billing query: read caps and counters, and check the charges of posts due at different times.

    The spend cap and spending are those of the first month in `parts`, including its charges.
    """
    caps, released_holds = (
        caps_of_workspace_and_agent(workspace_id=workspace_id, agent_id=agent_id),
        _open_holds(instead_of),
    )
    months, checks = [], []
    for month in dict.fromkeys(first_day_of_utc_month(due) for due, _ in parts):
        demand = ChargeTotals.sum_of(
            [charge for due, charges in parts if first_day_of_utc_month(due) == month for charge in charges]
        )
        counters = {counter.holder_id: counter for counter in _counters([own.holder_id for own in caps.months], month)}
        for own in caps.months:
            counter = counters.setdefault(own.holder_id, MonthCounter(month=month))
            _subtract_holds(
                counter,
                [
                    hold
                    for hold in released_holds
                    if hold.month == month and hold.belongs_to_workspace_or_agent(own.holder_id)
                ],
            )
            own.raise_if_caps_exceeded(counter, demand)
            checks.append((own, counter, demand))
        month_cap = caps.months[-1].spend_cap_status(counters[workspace_id])
        months.append(replace(month_cap, reserved_cents=month_cap.reserved_cents + demand.cents))
    for own, counter, demand in checks:
        own.require_payment_beyond_free_credit(counter, demand)
    if caps.posts_per_day is not None and agent_id is not None:
        _check_days(caps, agent_id, parts, released_holds)
    return months[0]


def _check_days(
    caps: WorkspaceAndAgentCaps,
    agent_id: str,
    parts: Sequence[tuple[datetime, Sequence[PublishingCharge]]],
    released_holds: Sequence[LedgerEntry],
) -> None:
    for day in dict.fromkeys(utc_day_of(due) for due, _ in parts):
        demand = ChargeTotals.sum_of([charge for due, charges in parts if utc_day_of(due) == day for charge in charges])
        taken = DayCounter.objects.filter(agent_id=agent_id, day=day).values_list("targets", flat=True).first() or 0
        released = sum(1 for hold in released_holds if hold.day == day and hold.belongs_to_workspace_or_agent(agent_id))
        caps.raise_if_agent_posts_per_day_exceeded(day, taken - released, demand)


def _open_holds(target_ids: Sequence[str]) -> list[LedgerEntry]:
    if not target_ids:
        return []
    entries = list(LedgerEntry.objects.filter(target_id__in=target_ids))
    ended = {(entry.target_id, entry.round) for entry in entries if entry.kind != LedgerEntry.Kind.HOLD}
    return [entry for entry in entries if entry.kind == LedgerEntry.Kind.HOLD and (entry.target_id, entry.round) not in ended]


def _subtract_holds(counter: MonthCounter, holds: Sequence[LedgerEntry]) -> None:
    counter.held_cents -= sum(hold.cents for hold in holds)
    counter.url_posts -= sum(hold.url_posts for hold in holds)


def workspace_spend_cap_status(*, workspace_id: str, at: datetime) -> SpendCapStatus:
    """Billing query: return the workspace's spend cap, and its spending in the UTC month of `at`."""
    return _spend_cap_of_first(
        caps_of_workspace_and_agent(workspace_id=workspace_id, agent_id=None), first_day_of_utc_month(at)
    )


def agent_spend_cap_status(*, workspace_id: str, agent_id: str, at: datetime) -> SpendCapStatus:
    """Billing query: return the agent's own spend cap, and its spending in the UTC month of `at`; agents have no credit."""
    return _spend_cap_of_first(
        caps_of_workspace_and_agent(workspace_id=workspace_id, agent_id=agent_id), first_day_of_utc_month(at)
    )


class AgentPostCounts(NamedTuple):
    """The result of a billing query: an agent's posts on a day, and its posts with a URL in a month, both limited by caps."""

    targets_of_day: int
    url_posts_of_month: int


def day_and_month_post_counts_of_agent(*, agent_id: str, at: datetime) -> AgentPostCounts:
    """Return how many posts an agent has on the day of `at`, and how many with a URL in its month, pending posts included.

    Days and months are those of UTC.
    """
    days = DayCounter.objects.filter(agent_id=agent_id, day=utc_day_of(at)).values("targets")
    months = _counters([agent_id], first_day_of_utc_month(at)).values("url_posts")
    agent = Agent.objects.filter(pk=agent_id)
    [(targets, url_posts)] = agent.values_list(Subquery(days), Subquery(months))
    return AgentPostCounts(targets or 0, url_posts or 0)


_workspace = FixedSelect(Workspace, where=("id",))
_agent = FixedSelect(Agent, where=("id", "workspace_id"), join=("workspace",))


def caps_of_workspace_and_agent(
    *, workspace_id: str, agent_id: str | None, workspace: Workspace | None = None
) -> WorkspaceAndAgentCaps:
    """Billing query: return all caps that apply to the workspace and, if an agent id is given, to the agent.

    `workspace` is the row, if the caller has read it. Raises Agent.DoesNotExist for an agent of another workspace.
    """
    if agent_id is None:
        return WorkspaceAndAgentCaps((_workspace_caps(workspace or _workspace(workspace_id)[0]),))
    agent = _agent.first(agent_id, workspace_id)
    if agent is None:
        raise Agent.DoesNotExist
    own = MonthlyCaps(agent_id, "agent", agent.monthly_spend_cap_cents, 0, agent.monthly_social_url_post_cap)
    return WorkspaceAndAgentCaps((own, _workspace_caps(agent.workspace)), agent.posts_per_day_cap)


def _spend_cap_of_first(caps: WorkspaceAndAgentCaps, month: date) -> SpendCapStatus:
    first = caps.months[0]
    return first.spend_cap_status(_counters([first.holder_id], month).first() or MonthCounter(month=month))


def _counters(holder_ids: list[str], month: date) -> QuerySet[MonthCounter]:
    return MonthCounter.objects.filter(holder_id__in=holder_ids, month=month)


def _workspace_caps(workspace: Workspace) -> MonthlyCaps:
    return MonthlyCaps(
        workspace.pk,
        "workspace",
        workspace.monthly_spend_cap_cents,
        workspace.free_monthly_credit_cents,
        workspace.monthly_social_url_post_cap,
        pays=not has_payment_processor() or has_paying_subscription(workspace_id=workspace.pk),
    )


def subscription_of_workspace(*, workspace_id: str) -> Subscription | None:
    """Billing query: return the stored subscription of the workspace; None if it never had one."""
    return Subscription.objects.exclude(status="").filter(pk=workspace_id).first()


def has_paying_subscription(*, workspace_id: str) -> bool:
    """Billing query: return whether the workspace's stored subscription pays for usage beyond the free credit."""
    subscription = subscription_of_workspace(workspace_id=workspace_id)
    return subscription is not None and subscription.pays_for_usage_at(timezone.now())


def spent_ledger_entries(*, workspace_id: str, month: date) -> QuerySet[LedgerEntry]:
    """Billing query: return the ledger entries that count as spent in a workspace's month: charges and corrections."""
    return LedgerEntry.objects.filter(SPENT_ENTRIES_CONDITION, workspace_id=workspace_id, month=month)


def usage_reports_of_month(*, workspace_id: str, month: date) -> QuerySet[UsageReport]:
    """Billing query: return the reports of a workspace's usage in a month, found by its ledger entries."""
    entries = spent_ledger_entries(workspace_id=workspace_id, month=month).values("pk")
    return UsageReport.objects.filter(entry_id__in=entries)


def count_corrections_awaiting_approval() -> int:
    """Billing query: count the proposed corrections that await another operator's approval and have not expired."""
    return Correction.objects.filter(status=Correction.Status.PROPOSED, expires_at__gt=timezone.now()).count()


def unresolved_alarms_of_workspace(
    *, caller: Caller, workspace_id: str, kinds: Iterable[BillingAlarm.Kind]
) -> list[BillingAlarm]:
    """Billing query: return the unresolved alarms about a workspace, of some kinds. Raises ScopeMissing, NotFound."""
    require_access(caller, workspace_id, "usage.read", write=False)
    return list(BillingAlarm.objects.filter(kind__in=list(kinds), subject=workspace_id, resolved_at=None))


class MonthSums(NamedTuple):
    """The result of a billing query: a workspace's or agent's month in reserved cents, spent cents and posts with a URL."""

    held_cents: int = 0
    settled_cents: int = 0
    url_posts: int = 0


@dataclass(frozen=True)
class WrongMonthCounter:
    """A difference that the query of month counters and ledger entries found, for one workspace or agent and month."""

    holder_id: str
    month: date
    counter: MonthSums
    ledger: MonthSums


def find_wrong_month_counters() -> list[WrongMonthCounter]:
    """Billing query: return every month counter that differs from the sum of its ledger entries.

    Counters and entries are read in several statements, so while money moves only a difference found twice is real.
    """
    counted = {
        (counter.holder_id, counter.month): MonthSums(counter.held_cents, counter.settled_cents, counter.url_posts)
        for counter in MonthCounter.objects.iterator()
    }
    entered = _ledger_by("workspace_id") | _ledger_by("agent_id")
    none = MonthSums()
    return [
        WrongMonthCounter(*key, counter=counted.get(key, none), ledger=entered.get(key, none))
        for key in sorted(counted.keys() | entered.keys())
        if counted.get(key, none) != entered.get(key, none)
    ]


def _ledger_by(holder: str) -> dict[tuple[str, date], MonthSums]:
    kind = LedgerEntry.Kind
    sums = (
        LedgerEntry.objects.exclude(**{holder: ""})
        .values_list(holder, "month")
        .annotate(
            held=_sum("cents", plus=[kind.HOLD], minus=[kind.SETTLE, kind.RELEASE]),
            settled=_sum("cents", plus=[kind.SETTLE, kind.ADJUST], minus=[]),
            urls=_sum("url_posts", plus=[kind.HOLD, kind.ADJUST], minus=[kind.RELEASE]),
        )
    )
    return {(holder_id, month): MonthSums(*map(int, amounts)) for holder_id, month, *amounts in sums}


def _sum(field: str, *, plus: list[LedgerEntry.Kind], minus: list[LedgerEntry.Kind]) -> Sum:
    return Sum(Case(When(kind__in=plus, then=F(field)), When(kind__in=minus, then=-F(field)), default=Value(0)))
