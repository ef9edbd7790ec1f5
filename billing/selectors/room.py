"""Reads: how a month stands against its caps, and whether there is room for more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import NamedTuple

from django.db.models import QuerySet, Subquery

from agents.models import Agent
from billing.caps import Caps, Demand, MonthCaps, SpendCap, day_of, month_of
from billing.models import DayCounter, LedgerEntry, MonthCounter
from billing.plans import is_paid
from billing.prices import Charge
from billing.selectors.subscriptions import is_entitled
from config.db.prepared import Prepared
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
    SocialUrlPostCapExceeded, PaymentMethodRequired, PostsPerDayCapExceeded.
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
    standings, asked = [], []
    for month in dict.fromkeys(month_of(due) for due, _ in parts):
        demand = Demand.of([charge for due, charges in parts if month_of(due) == month for charge in charges])
        counters = {counter.holder_id: counter for counter in _counters([own.holder_id for own in caps.months], month)}
        for own in caps.months:
            counter = counters.setdefault(own.holder_id, MonthCounter(month=month))
            _free(counter, [hold for hold in freed if hold.month == month and hold.stands_with(own.holder_id)])
            own.refuse_beyond(counter, demand)
            asked.append((own, counter, demand))
        standing = caps.months[-1].standing(counters[workspace_id])
        standings.append(replace(standing, reserved_cents=standing.reserved_cents + demand.cents))
    for own, counter, demand in asked:
        own.refuse_unpaid(counter, demand)
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


class AgentCounts(NamedTuple):
    """What counts for an agent's caps besides money: the targets of a day, and the URL posts of a month."""

    targets_of_day: int
    url_posts_of_month: int


def agent_counts(*, agent_id: str, at: datetime) -> AgentCounts:
    """What the agent has used up of its UTC day and month of `at`, waiting posts included."""
    days = DayCounter.objects.filter(agent_id=agent_id, day=day_of(at)).values("targets")
    months = _counters([agent_id], month_of(at)).values("url_posts")
    agent = Agent.objects.filter(pk=agent_id)
    [(targets, url_posts)] = agent.values_list(Subquery(days), Subquery(months))
    return AgentCounts(targets or 0, url_posts or 0)


_workspace = Prepared(lambda workspace_id: Workspace.objects.filter(pk=workspace_id))
_agent = Prepared(
    lambda agent_id, workspace_id: Agent.objects.select_related("workspace").filter(
        pk=agent_id, workspace_id=workspace_id
    )
)


def caps_of(*, workspace_id: str, agent_id: str | None) -> Caps:
    """The caps that a call has to keep: its agent's, if there is one, and its workspace's, in one query."""
    if agent_id is None:
        return Caps((_workspace_caps(_workspace.get(workspace_id)),))
    agent = _agent.get(agent_id, workspace_id)
    own = MonthCaps(agent_id, "agent", agent.monthly_spend_cap_cents, 0, agent.monthly_social_url_post_cap)
    return Caps((own, _workspace_caps(agent.workspace)), agent.posts_per_day_cap)


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
        pays=not is_paid() or is_entitled(workspace_id=workspace.pk),
    )
