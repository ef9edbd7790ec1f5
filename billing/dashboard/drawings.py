"""What the page draws, as plain numbers: the month's budget, its days, and shares of its spend. In per cent, one decimal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from billing.caps import SpendCap
from billing.selectors import DayUsage

LEAST_BAR = 1.5  # per cent of the height: what is there can be seen
LAST_MARK = 99.6  # per cent of the width, where a mark can still be seen
NEARLY = 0.8  # of what may be spent


@dataclass(frozen=True)
class BudgetBar:
    """What is spent and held, and where the free credit ends, of what may be spent, or of what is, where that is more."""

    limit_cents: int
    used_cents: int
    spent: float
    used: float
    free: float

    @classmethod
    def of(cls, standing: SpendCap) -> BudgetBar:
        limit, used = standing.limit_cents or 0, standing.spent_cents + standing.reserved_cents
        whole = max(limit, used)
        spent, held, free = (
            share_of(cents, whole) for cents in (standing.spent_cents, used, standing.free_credit_cents)
        )
        return cls(limit, used, spent, held, min(free, LAST_MARK))

    @property
    def is_used_up(self) -> bool:
        return self.used_cents >= self.limit_cents

    @property
    def is_nearly_used_up(self) -> bool:
        return self.used_cents >= NEARLY * self.limit_cents


@dataclass(frozen=True)
class DayBar:
    """A day's column: `left` and `width` of the drawing's width, `top` and `height` of its height."""

    day: date
    published: int
    spend_cents: int
    left: float
    width: float
    top: float
    height: float


def day_bars(days: Sequence[DayUsage]) -> list[DayBar]:
    """A column for each day, the highest as high as the drawing."""
    most = max((each.spend_cents for each in days), default=0)
    step = 100 / len(days)
    bars = []
    for number, each in enumerate(days):
        height = max(share_of(each.spend_cents, most), LEAST_BAR if each.spend_cents else 0.0)
        left, width = round((number + 0.1) * step, 2), round(0.8 * step, 2)
        bars.append(DayBar(each.day, each.published, each.spend_cents, left, width, round(100 - height, 1), height))
    return bars


def share_of(cents: int, whole: int) -> float:
    """How much of the whole this is; 0 of nothing."""
    return round(100 * cents / whole, 1) if whole else 0.0
