"""Reads: how a month stands, whether there is room for more, and whether counters and ledger agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import NamedTuple

from django.db.models import Case, F, QuerySet, Sum, Value, When

from agents.models import Agent
from billing.caps import Caps, Demand, MonthCaps, SpendCap, day_of, month_of
from billing.models import DayCounter, LedgerEntry, MonthCounter
from billing.prices import Charge
from workspaces.models import Workspace


def check(*, workspace_id: str, agent_id: str | None, charges: Sequence[Charge], due: datetime) -> SpendCap:
    """The workspace's month as it would stand after these charges; raises what `services.hold` would, writes nothing.

    Errors: SpendCapExceeded, SocialUrlPostCapExceeded, PostsPerDayCapExceeded.
    """
    caps = caps_of(workspace_id=workspace_id, agent_id=agent_id)
    demand, month = Demand.of(charges), month_of(due)
    counters = {counter.holder_id: counter for counter in _counters([own.holder_id for own in caps.months], month)}
    for own in caps.months:
        own.refuse_beyond(counters.get(own.holder_id) or MonthCounter(month=month), demand)
    if caps.posts_per_day is not None:
        day = day_of(due)
        taken = DayCounter.objects.filter(agent_id=agent_id, day=day).values_list("targets", flat=True).first()
        caps.refuse_beyond_day(day, taken or 0, demand)
    standing = caps.months[-1].standing(counters.get(workspace_id) or MonthCounter(month=month))
    return replace(standing, reserved_cents=standing.reserved_cents + demand.cents)


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
