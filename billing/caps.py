"""The caps on a workspace's or agent's spending and posts, and checks of charges against the caps, without database access.

`run_writes_reserving_money` and `selectors.check_charges_and_return_spending` use the same checks, so a dry run
cannot promise what the real call refuses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.utils import timezone

from billing.errors import PaymentMethodRequired, PostsPerDayCapExceeded, SpendCapExceeded, UrlPostCapExceeded
from billing.models import LedgerEntry, MonthCounter
from billing.prices import PublishingCharge
from config.api.fields import MAX_INT64

ALLOWED_YEARS = range(2000, 2201)  # of the months that a URL may name


@dataclass(frozen=True)
class ChargeTotals:
    """Totals of charges or ledger entries to compare with the caps: cents, posts with a URL, posts to single accounts."""

    cents: int
    url_posts: int
    targets: int

    @classmethod
    def sum_of(cls, parts: Sequence[PublishingCharge | LedgerEntry]) -> ChargeTotals:
        return cls(sum(part.cents for part in parts), sum(part.url_posts for part in parts), len(parts))


@dataclass(frozen=True)
class SpendCapStatus:
    """A workspace's or agent's spending in a month against its spend cap, in cents; an agent may have no cap (None).

    `dataclasses.replace(spend_cap, cap_cents=…)` shows the same month with another cap.
    """

    cap_cents: int | None
    free_credit_cents: int
    spent_cents: int
    reserved_cents: int

    @property
    def spend_limit_cents_or_none(self) -> int | None:
        """Return how many cents may be spent in the month of this SpendCapStatus: cap plus free credit; None without a cap.

        The result is at most the largest 64-bit number.
        """
        return None if self.cap_cents is None else min(self.free_credit_cents + self.cap_cents, MAX_INT64)

    @property
    def remaining_cents(self) -> int | None:
        """Return how many more cents may be spent in the month of this SpendCapStatus; None without a spend cap."""
        if self.spend_limit_cents_or_none is None:
            return None
        return max(0, self.spend_limit_cents_or_none - self.spent_cents - self.reserved_cents)

    @property
    def exceeded(self) -> bool:
        """Return whether the spending in this SpendCapStatus exceeds cap plus free credit, as after a lower cap was set."""
        return (
            self.spend_limit_cents_or_none is not None
            and self.spent_cents + self.reserved_cents > self.spend_limit_cents_or_none
        )


@dataclass(frozen=True)
class MonthlyCaps:
    """The monthly caps on spending and on posts with a URL, of a workspace or of an agent.

    `holder_kind` says which of both has the caps. None means no cap of its own. `pays` says whether spending beyond the
    free credit is paid for; in paid mode that needs a subscription.
    """

    holder_id: str
    holder_kind: str
    cap_cents: int | None
    free_credit_cents: int
    url_post_cap: int | None
    pays: bool = True

    @property
    def spending_limit_cents(self) -> int | None:
        """Return how many cents these MonthlyCaps allow to be spent or reserved in a month; None means no limit."""
        limit = self.spend_cap_status(MonthCounter()).spend_limit_cents_or_none
        return limit if self.pays or limit is None else min(limit, self.free_credit_cents)

    def spend_cap_status(self, counter: MonthCounter) -> SpendCapStatus:
        return SpendCapStatus(self.cap_cents, self.free_credit_cents, counter.settled_cents, counter.held_cents)

    def check_caps_and_payment(self, counter: MonthCounter, demand: ChargeTotals) -> None:
        """Raise an error if charges exceed a monthly cap, or exceed the free credit and no subscription pays for more.

        Raises SpendCapExceeded, UrlPostCapExceeded or PaymentMethodRequired.
        """
        self.raise_if_caps_exceeded(counter, demand)
        self.require_payment_beyond_free_credit(counter, demand)

    def raise_if_caps_exceeded(self, counter: MonthCounter, demand: ChargeTotals) -> None:
        """Raise SpendCapExceeded or UrlPostCapExceeded if more charges would exceed one of these MonthlyCaps."""
        left_cents = self.spend_cap_status(counter).remaining_cents
        if demand.cents and left_cents is not None and demand.cents > left_cents:
            raise SpendCapExceeded(
                f"This needs {_count(demand.cents, 'cent')}; the {self.holder_kind} has {left_cents} left "
                f"in {counter.month:%Y-%m} (cap {self.cap_cents}, free credit {self.free_credit_cents}, "
                f"spent {counter.settled_cents}, reserved {counter.held_cents})."
            )
        if demand.url_posts and self.url_post_cap is not None:
            left = max(0, self.url_post_cap - counter.url_posts)
            if demand.url_posts > left:
                raise UrlPostCapExceeded(
                    f"This needs {_count(demand.url_posts, 'URL post')}; the {self.holder_kind} has {left} of "
                    f"{self.url_post_cap} left in {counter.month:%Y-%m}."
                )

    def require_payment_beyond_free_credit(self, counter: MonthCounter, demand: ChargeTotals) -> None:
        """Raise PaymentMethodRequired if charges exceed these MonthlyCaps' free credit and no subscription pays for more."""
        free = self.free_credit_cents
        left = max(0, free - counter.settled_cents - counter.held_cents)
        if demand.cents > left and not self.pays:
            raise PaymentMethodRequired(
                f"This needs {_count(demand.cents, 'cent')}; the {self.holder_kind} has {left} of its free credit of {free} "
                f"left in {counter.month:%Y-%m} (spent {counter.settled_cents}, reserved {counter.held_cents}), "
                "and no subscription that pays for more."
            )


@dataclass(frozen=True)
class WorkspaceAndAgentCaps:
    """All caps that apply to the charges of a workspace or of one of its agents.

    `months` has the monthly caps in the order in which their counters are locked.
    """

    months: tuple[MonthlyCaps, ...]
    posts_per_day: int | None = None

    def raise_if_agent_posts_per_day_exceeded(self, day: date, taken: int, demand: ChargeTotals) -> None:
        """Raise PostsPerDayCapExceeded if the charges are for more posts than the agent may still publish on the day.

        A post to several accounts counts once for each account.
        """
        if self.posts_per_day is None or not demand.targets:
            return
        left = max(0, self.posts_per_day - taken)
        if demand.targets > left:
            raise PostsPerDayCapExceeded(
                f"This posts to {_count(demand.targets, 'target')}; "
                f"the agent has {left} of {self.posts_per_day} left on {day}.",
                headers={"Retry-After": str(_seconds_until_end_of(day))},
            )


def utc_day_of(at: datetime) -> date:
    """Return the UTC day that contains a time. Daily caps apply to UTC days."""
    return at.astimezone(UTC).date()


def first_day_of_utc_month(at: datetime) -> date:
    """Return the first day of the UTC month that contains a time. Monthly caps apply to UTC months."""
    return utc_day_of(at).replace(day=1)


@dataclass(frozen=True)
class UtcMonth:
    """A billing period, to which the monthly caps apply: one UTC calendar month. `end` is the start of the month after it."""

    start: datetime
    end: datetime

    @classmethod
    def from_name_or_current(cls, name: str) -> UtcMonth:
        """Return the UtcMonth (billing period of the caps) with a name such as 2027-03; by default the current one."""
        try:
            asked = datetime.strptime(name, "%Y-%m").replace(tzinfo=UTC)
        except ValueError:
            asked = timezone.now()
        return cls.containing(asked if asked.year in ALLOWED_YEARS else timezone.now())

    @classmethod
    def containing(cls, at: datetime) -> UtcMonth:
        """Return the UtcMonth (billing period of the caps) that contains a time. Raises OverflowError for December 9999."""
        start = datetime.combine(first_day_of_utc_month(at), time.min, UTC)
        return cls(start, (start + timedelta(days=32)).replace(day=1))


def _seconds_until_end_of(day: date) -> int:
    midnight = datetime.combine(day + timedelta(days=1), time.min, UTC)
    return max(1, math.ceil((midnight - timezone.now()).total_seconds()))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
