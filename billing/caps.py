"""What may be spent and posted: caps as plain values, and the refusals that they make. Nothing here asks the database.

Hold and check judge by the same functions, so a dry run cannot promise what the real call refuses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.utils import timezone

from billing.errors import (
    PaymentMethodRequired,
    PostsPerDayCapExceeded,
    SocialUrlPostCapExceeded,
    SpendCapExceeded,
)
from billing.models import LedgerEntry, MonthCounter
from billing.prices import Charge
from config.api.fields import INT64


@dataclass(frozen=True)
class Demand:
    """The sum of several charges or holds."""

    cents: int
    url_posts: int
    targets: int

    @classmethod
    def of(cls, parts: Sequence[Charge | LedgerEntry]) -> Demand:
        return cls(sum(part.cents for part in parts), sum(part.url_posts for part in parts), len(parts))


@dataclass(frozen=True)
class SpendCap:
    """How a month stands, in cents. `cap_cents` is null for an agent without a cap of its own.

    `dataclasses.replace(spend_cap, cap_cents=…)` answers what another cap would mean.
    """

    cap_cents: int | None
    free_credit_cents: int
    spent_cents: int
    reserved_cents: int

    @property
    def limit_cents(self) -> int | None:
        """Free credit and cap together, at most what a 64-bit column holds."""
        return None if self.cap_cents is None else min(self.free_credit_cents + self.cap_cents, INT64)

    @property
    def remaining_cents(self) -> int | None:
        """What may still be spent; null without a cap."""
        if self.limit_cents is None:
            return None
        return max(0, self.limit_cents - self.spent_cents - self.reserved_cents)

    @property
    def exceeded(self) -> bool:
        """More is spent and held than the limit allows, which only a lowered limit can bring about."""
        return self.limit_cents is not None and self.spent_cents + self.reserved_cents > self.limit_cents


@dataclass(frozen=True)
class MonthCaps:
    """The monthly caps of one workspace or agent, `whose` says which; null is no cap of its own.

    `pays` says whether what goes beyond the free credit is paid for: in paid mode, by a subscription.
    """

    holder_id: str
    whose: str
    cap_cents: int | None
    free_credit_cents: int
    url_post_cap: int | None
    pays: bool = True

    @property
    def limit_cents(self) -> int | None:
        """What may be held and spent altogether; null for no end."""
        limit = self.standing(MonthCounter()).limit_cents
        return limit if self.pays or limit is None else min(limit, self.free_credit_cents)

    def standing(self, counter: MonthCounter) -> SpendCap:
        return SpendCap(self.cap_cents, self.free_credit_cents, counter.settled_cents, counter.held_cents)

    def refuse(self, counter: MonthCounter, demand: Demand) -> None:
        """Raises what refuses the demand, in the order of the contract."""
        self.refuse_beyond(counter, demand)
        self.refuse_unpaid(counter, demand)

    def refuse_beyond(self, counter: MonthCounter, demand: Demand) -> None:
        """Raises SpendCapExceeded or SocialUrlPostCapExceeded when the counter has no room for the demand."""
        left_cents = self.standing(counter).remaining_cents
        if demand.cents and left_cents is not None and demand.cents > left_cents:
            raise SpendCapExceeded(
                f"This needs {_count(demand.cents, 'cent')}; the {self.whose} has {left_cents} left "
                f"in {counter.month:%Y-%m} (cap {self.cap_cents}, free credit {self.free_credit_cents}, "
                f"spent {counter.settled_cents}, reserved {counter.held_cents})."
            )
        if demand.url_posts and self.url_post_cap is not None:
            left = max(0, self.url_post_cap - counter.url_posts)
            if demand.url_posts > left:
                raise SocialUrlPostCapExceeded(
                    f"This makes {_count(demand.url_posts, 'URL post')}; the {self.whose} has {left} of "
                    f"{self.url_post_cap} left in {counter.month:%Y-%m}."
                )

    def refuse_unpaid(self, counter: MonthCounter, demand: Demand) -> None:
        """Raises PaymentMethodRequired when the demand goes beyond the free credit and nobody pays for that."""
        free = self.free_credit_cents
        left = max(0, free - counter.settled_cents - counter.held_cents)
        if demand.cents > left and not self.pays:
            raise PaymentMethodRequired(
                f"This needs {_count(demand.cents, 'cent')}; the {self.whose} has {left} of its free credit of {free} "
                f"left in {counter.month:%Y-%m} (spent {counter.settled_cents}, reserved {counter.held_cents}), "
                "and no subscription that pays for more."
            )


@dataclass(frozen=True)
class Caps:
    """All caps that a call of a workspace, or of its agent, has to keep; `months` in the order of locking."""

    months: tuple[MonthCaps, ...]
    posts_per_day: int | None = None

    def refuse_beyond_day(self, day: date, taken: int, demand: Demand) -> None:
        """Raises PostsPerDayCapExceeded when the agent's day has no room for the demand."""
        if self.posts_per_day is None or not demand.targets:
            return
        left = max(0, self.posts_per_day - taken)
        if demand.targets > left:
            raise PostsPerDayCapExceeded(
                f"This posts to {_count(demand.targets, 'target')}; "
                f"the agent has {left} of {self.posts_per_day} left on {day}.",
                headers={"Retry-After": str(_seconds_until_end_of(day))},
            )


def day_of(at: datetime) -> date:
    """The UTC day of a time."""
    return at.astimezone(UTC).date()


def month_of(at: datetime) -> date:
    """The first day of the UTC month of a time."""
    return day_of(at).replace(day=1)


@dataclass(frozen=True)
class Period:
    """A UTC calendar month; `end` is the first instant of the next one."""

    start: datetime
    end: datetime

    @classmethod
    def around(cls, at: datetime) -> Period:
        """The month in which a time lies. Raises OverflowError for the last month that a datetime knows."""
        start = datetime.combine(month_of(at), time.min, UTC)
        return cls(start, (start + timedelta(days=32)).replace(day=1))


def _seconds_until_end_of(day: date) -> int:
    midnight = datetime.combine(day + timedelta(days=1), time.min, UTC)
    return max(1, math.ceil((midnight - timezone.now()).total_seconds()))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
