"""Reads: how a month stands and what came of it, whether there is room for more, whether counters and ledger agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, NamedTuple

from django.db.models import Case, F, QuerySet, Sum, Value, When

from agents.models import Agent
from agents.selectors import agent_of
from billing.caps import Caps, Demand, MonthCaps, Period, SpendCap, day_of, month_of
from billing.models import DayCounter, LedgerEntry, MonthCounter, UsageTotal
from billing.plans import billing_mode
from billing.prices import Charge
from config.api.caller import Caller, require
from workspaces.models import Workspace


def check(
    *,
    workspace_id: str,
    agent_id: str | None,
    charges: Sequence[Charge],
    due: datetime,
    instead_of: Sequence[str] = (),
) -> SpendCap:
    """The workspace's month as it would stand after these charges; raises what `services.hold` would, writes nothing.

    What is held for the targets `instead_of` counts as released before. Errors: SpendCapExceeded,
    SocialUrlPostCapExceeded, PostsPerDayCapExceeded.
    """
    return check_all(workspace_id=workspace_id, agent_id=agent_id, parts=[(due, charges)], instead_of=instead_of)


def check_all(
    *,
    workspace_id: str,
    agent_id: str | None,
    parts: Sequence[tuple[datetime, Sequence[Charge]]],
    instead_of: Sequence[str] = (),
) -> SpendCap:
    """As `check`, for charges that are due at several times; answers the month of the first."""
    caps, freed = caps_of(workspace_id=workspace_id, agent_id=agent_id), _open_holds(instead_of)
    standings = []
    for month in dict.fromkeys(month_of(due) for due, _ in parts):
        demand = Demand.of([charge for due, charges in parts if month_of(due) == month for charge in charges])
        counters = {counter.holder_id: counter for counter in _counters([own.holder_id for own in caps.months], month)}
        for own in caps.months:
            counter = counters.setdefault(own.holder_id, MonthCounter(month=month))
            _free(counter, [hold for hold in freed if hold.month == month and hold.stands_with(own.holder_id)])
            own.refuse_beyond(counter, demand)
        standing = caps.months[-1].standing(counters[workspace_id])
        standings.append(replace(standing, reserved_cents=standing.reserved_cents + demand.cents))
    if caps.posts_per_day is not None and agent_id is not None:
        _check_days(caps, agent_id, parts, freed)
    return standings[0]


def _check_days(
    caps: Caps, agent_id: str, parts: Sequence[tuple[datetime, Sequence[Charge]]], freed: Sequence[LedgerEntry]
) -> None:
    for day in dict.fromkeys(day_of(due) for due, _ in parts):
        demand = Demand.of([charge for due, charges in parts if day_of(due) == day for charge in charges])
        taken = DayCounter.objects.filter(agent_id=agent_id, day=day).values_list("targets", flat=True).first() or 0
        given_back = sum(1 for hold in freed if hold.day == day and hold.stands_with(agent_id))
        caps.refuse_beyond_day(day, taken - given_back, demand)


def _open_holds(target_ids: Sequence[str]) -> list[LedgerEntry]:
    if not target_ids:
        return []
    entries = list(LedgerEntry.objects.filter(target_id__in=target_ids))
    ended = {(entry.target_id, entry.round) for entry in entries if entry.kind != LedgerEntry.Kind.HOLD}
    return [
        entry
        for entry in entries
        if entry.kind == LedgerEntry.Kind.HOLD and (entry.target_id, entry.round) not in ended
    ]


def _free(counter: MonthCounter, holds: Sequence[LedgerEntry]) -> None:
    counter.held_cents -= sum(hold.cents for hold in holds)
    counter.url_posts -= sum(hold.url_posts for hold in holds)


def spend_cap(*, workspace_id: str, at: datetime) -> SpendCap:
    """How the workspace's UTC month of `at` stands."""
    return _standing(caps_of(workspace_id=workspace_id, agent_id=None), month_of(at))


def agent_spend_cap(*, workspace_id: str, agent_id: str, at: datetime) -> SpendCap:
    """How the agent's own UTC month of `at` stands; agents have no free credit of their own."""
    return _standing(caps_of(workspace_id=workspace_id, agent_id=agent_id), month_of(at))


def caps_of(*, workspace_id: str, agent_id: str | None) -> Caps:
    """The caps that a call has to keep: its agent's, if there is one, and its workspace's, in one query."""
    if agent_id is None:
        return Caps((_workspace_caps(Workspace.objects.get(pk=workspace_id)),))
    agent = Agent.objects.select_related("workspace").get(pk=agent_id, workspace_id=workspace_id)
    own = MonthCaps(agent_id, "agent", agent.monthly_spend_cap_cents, 0, agent.monthly_social_url_post_cap)
    return Caps((own, _workspace_caps(agent.workspace)), agent.posts_per_day_cap)


@dataclass(frozen=True)
class Usage:
    """What came of a month's targets; `totals` as the API tells them. `agent_id` is "" for a whole workspace."""

    workspace_id: str
    agent_id: str
    period: Period
    totals: dict[str, Any]
    spend_cap: SpendCap


@dataclass(frozen=True)
class Bill:
    """What a month costs, in cents, reckoned with the free credit and the cap of `spend_cap`.

    `subscription` is null as long as no event of the processor has brought one about.
    """

    workspace_id: str
    period: Period
    mode: str
    spend_cap: SpendCap
    subscription: None = None

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
    """The workspace's UTC month of `at`, as it would stand with this cap. Raises ScopeMissing, NotFound."""
    require(caller, workspace_id, "usage.read", write=False)
    standing = replace(spend_cap(workspace_id=workspace_id, at=at), cap_cents=cap_cents)
    return Usage(workspace_id, "", Period.around(at), _totals(at, workspace_id=workspace_id), standing)


def agent_usage_of(*, caller: Caller, agent_id: str, at: datetime) -> Usage:
    """The agent's UTC month of `at` under its own caps. Raises ScopeMissing, NotFound."""
    workspace_id = agent_of(caller=caller, agent_id=agent_id, scope="usage.read").workspace_id
    standing = agent_spend_cap(workspace_id=workspace_id, agent_id=agent_id, at=at)
    totals = _totals(at, workspace_id=workspace_id, agent_id=agent_id)
    return Usage(workspace_id, agent_id, Period.around(at), totals, standing)


def bill_of(*, caller: Caller, workspace_id: str, at: datetime, cap_cents: int, free_credit_cents: int) -> Bill:
    """The workspace's UTC month of `at`, reckoned with this cap and free credit. Raises ScopeMissing, NotFound."""
    require(caller, workspace_id, "usage.read", write=False)
    standing = spend_cap(workspace_id=workspace_id, at=at)
    standing = replace(standing, cap_cents=cap_cents, free_credit_cents=free_credit_cents)
    return Bill(workspace_id, Period.around(at), billing_mode(), standing)


class Amounts(NamedTuple):
    """What a month's counter says, or what its ledger entries add up to."""

    held_cents: int = 0
    settled_cents: int = 0
    url_posts: int = 0


@dataclass(frozen=True)
class Drift:
    """A month of a workspace or agent whose counter and ledger disagree."""

    holder_id: str
    month: date
    counter: Amounts
    ledger: Amounts


def drift() -> list[Drift]:
    """Every month whose counter is not the sum of its ledger entries; an empty list is what must always come out.

    Counters and entries are read by several statements: while money moves, only what two looks in a row find is true.
    """
    counted = {
        (counter.holder_id, counter.month): Amounts(counter.held_cents, counter.settled_cents, counter.url_posts)
        for counter in MonthCounter.objects.iterator()
    }
    entered = _ledger_by("workspace_id") | _ledger_by("agent_id")
    none = Amounts()
    return [
        Drift(*key, counter=counted.get(key, none), ledger=entered.get(key, none))
        for key in sorted(counted.keys() | entered.keys())
        if counted.get(key, none) != entered.get(key, none)
    ]


def _ledger_by(holder: str) -> dict[tuple[str, date], Amounts]:
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
    return {(holder_id, month): Amounts(*map(int, amounts)) for holder_id, month, *amounts in sums}


def _sum(field: str, *, plus: list[LedgerEntry.Kind], minus: list[LedgerEntry.Kind]) -> Sum:
    return Sum(Case(When(kind__in=plus, then=F(field)), When(kind__in=minus, then=-F(field)), default=Value(0)))


def _totals(at: datetime, **holder: str) -> dict[str, Any]:
    """What came of the month's targets, out of its totals: one row for each agent and platform, however many targets."""
    names = ("published", "failed", "url_posts", "spend_cents")
    rows = UsageTotal.objects.filter(**holder, month=month_of(at)).values_list("platform")
    by_platform = [
        {"platform": platform, **dict(zip(names, map(int, sums), strict=True))}
        for platform, *sums in sorted(rows.annotate(*map(Sum, names)))
    ]
    return {name: sum(each[name] for each in by_platform) for name in names} | {"by_platform": by_platform}


def _standing(caps: Caps, month: date) -> SpendCap:
    first = caps.months[0]
    return first.standing(_counters([first.holder_id], month).first() or MonthCounter(month=month))


def _counters(holder_ids: list[str], month: date) -> QuerySet[MonthCounter]:
    return MonthCounter.objects.filter(holder_id__in=holder_ids, month=month)


def _workspace_caps(workspace: Workspace) -> MonthCaps:
    return MonthCaps(
        workspace.pk,
        "workspace",
        workspace.monthly_spend_cap_cents,
        workspace.free_monthly_credit_cents,
        workspace.monthly_social_url_post_cap,
    )
