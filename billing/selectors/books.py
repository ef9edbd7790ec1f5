"""Reads: whether counters and ledger agree."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from django.db.models import Case, F, Sum, Value, When

from billing.models import LedgerEntry, MonthCounter


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
