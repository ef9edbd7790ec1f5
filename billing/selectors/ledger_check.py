"""Compares the monthly counters with the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from django.db.models import Case, F, Sum, Value, When

from billing.models import LedgerEntry, MonthCounter


class MonthAmounts(NamedTuple):
    """The amounts of a monthly counter, or the sums of its ledger entries."""

    held_cents: int = 0
    settled_cents: int = 0
    url_posts: int = 0


@dataclass(frozen=True)
class Drift:
    """A month of a workspace or agent whose counter differs from the sum of its ledger entries."""

    holder_id: str
    month: date
    counter: MonthAmounts
    ledger: MonthAmounts


def drift() -> list[Drift]:
    """Return every month whose counter differs from the sum of its ledger entries; the list should always be empty.

    Counters and entries are read in several statements, so while money moves only a difference found twice is real.
    """
    counted = {
        (counter.holder_id, counter.month): MonthAmounts(counter.held_cents, counter.settled_cents, counter.url_posts)
        for counter in MonthCounter.objects.iterator()
    }
    entered = _ledger_by("workspace_id") | _ledger_by("agent_id")
    none = MonthAmounts()
    return [
        Drift(*key, counter=counted.get(key, none), ledger=entered.get(key, none))
        for key in sorted(counted.keys() | entered.keys())
        if counted.get(key, none) != entered.get(key, none)
    ]


def _ledger_by(holder: str) -> dict[tuple[str, date], MonthAmounts]:
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
    return {(holder_id, month): MonthAmounts(*map(int, amounts)) for holder_id, month, *amounts in sums}


def _sum(field: str, *, plus: list[LedgerEntry.Kind], minus: list[LedgerEntry.Kind]) -> Sum:
    return Sum(Case(When(kind__in=plus, then=F(field)), When(kind__in=minus, then=-F(field)), default=Value(0)))
