"""The charts of the dashboard's usage page as percentages: the budget bar, a column for each day, and shares of spending."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from billing.caps import SpendCapStatus
from billing.usage_selectors import DayUsage

MIN_BAR_HEIGHT = 1.5  # per cent of the height, so that small amounts are visible
MAX_MARK_POSITION = 99.6  # per cent of the width, so that the mark is visible
NEARLY_USED_SHARE = 0.8  # share of the limit


@dataclass(frozen=True)
class BudgetBar:
    """The usage page's budget bar: the widths, in percent, of money spent, money spent or reserved, and free credit."""

    limit_cents: int
    used_cents: int
    spent: float
    used: float
    free: float

    @classmethod
    def from_cap_status(cls, cap: SpendCapStatus) -> BudgetBar:
        limit, used = cap.spend_limit_cents_or_none or 0, cap.spent_cents + cap.reserved_cents
        whole = max(limit, used)
        spent, held, free = (percent_of(cents, whole) for cents in (cap.spent_cents, used, cap.free_credit_cents))
        return cls(limit, used, spent, held, min(free, MAX_MARK_POSITION))

    @property
    def is_used_up(self) -> bool:
        return self.used_cents >= self.limit_cents

    @property
    def is_nearly_used_up(self) -> bool:
        return self.used_cents >= NEARLY_USED_SHARE * self.limit_cents


@dataclass(frozen=True)
class DayBar:
    """The column of one day in the usage page's chart; its position and size are percentages of the chart's size."""

    day: date
    published: int
    spend_cents: int
    left: float
    width: float
    top: float
    height: float


def day_bars(days: Sequence[DayUsage]) -> list[DayBar]:
    """Return the columns of the usage page's chart, one for each day; the highest column fills the chart's height."""
    most = max((each.spend_cents for each in days), default=0)
    step = 100 / len(days)
    bars = []
    for number, each in enumerate(days):
        height = max(percent_of(each.spend_cents, most), MIN_BAR_HEIGHT if each.spend_cents else 0.0)
        left, width = round((number + 0.1) * step, 2), round(0.8 * step, 2)
        bars.append(DayBar(each.day, each.published, each.spend_cents, left, width, round(100 - height, 1), height))
    return bars


def percent_of(cents: int, whole: int) -> float:
    """Return which percentage of `whole` an amount is, for the usage page's charts; 0 if `whole` is 0."""
    return round(100 * cents / whole, 1) if whole else 0.0
