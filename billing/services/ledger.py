"""Reserves money for posts before they are published, then spends or releases the money, all in the billing ledger.

Money is held when a post group is scheduled, settled when a target is published, and released when it fails, always together
with the write that saves the target's state. Counters are always locked in the same order: by month,
agents before workspaces, then agents' days, then usage totals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import reduce
from itertools import groupby
from operator import attrgetter, or_
from typing import Any

from django.db import models, transaction
from django.db.models import Count, Q

from billing import selectors
from billing.caps import ChargeTotals, MonthlyCaps, WorkspaceAndAgentCaps, utc_day_of, utc_month_of
from billing.models import DayCounter, LedgerEntry, MonthCounter, UsageTotal
from billing.prices import PublishingCharge
from billing.services.usage_reporting import create_usage_reports_for_spending
from config.db.writes import Write, counter_add_write, counter_insert_or_add_write, insert_writes, write_together
from workspaces.models import Workspace

EntryKind = LedgerEntry.Kind
MAX_UPDATE_TRIES = 100
MONTH_KEY, DAY_KEY = ("holder_id", "month"), ("agent_id", "day")
USAGE_TOTAL_KEY_FIELDS = ("workspace_id", "month", "agent_id", "platform")


class PriceAlreadyHeld(Exception):
    """The ledger's internal exception, not an API error, for a post target whose price is already reserved or spent."""


@dataclass(frozen=True)
class CounterIncrease:
    """An increase of a counter of spending or posts: `first` is the counter before anything was added to it.

    `refuse` raises the error of the cap that the increase exceeds, if it exceeds one.
    """

    first: models.Model
    key: tuple[str, ...]
    refuse: Callable[[Any], None]

    def check_caps(self) -> None:
        """Raise the error of the cap that the increase exceeds, if it exceeds one now."""
        rows = type(self.first)._default_manager.filter(**{name: getattr(self.first, name) for name in self.key})
        self.refuse(rows.first() or self.first)


def _insert_missing_counters(increases: Sequence[CounterIncrease]) -> None:
    """Insert the missing counters of spending and posts, of all increases at once, in the order in which they are locked."""
    for model, group in groupby(increases, key=lambda increase: type(increase.first)):
        model._default_manager.bulk_create([increase.first for increase in group], ignore_conflicts=True)


def hold_writes(
    *,
    workspace_id: str,
    agent_id: str | None,
    charges_by_due: Iterable[tuple[datetime, Sequence[PublishingCharge]]],
    new: bool = False,
    workspace: Workspace | None = None,
) -> list[Write]:
    """Return the writes that reserve money for posts due at these times in the billing ledger, for `run_writes_with_holds`.

    `new` targets never had a hold before. `workspace` is the row, if the caller has read it. Raises PriceAlreadyHeld.
    """
    parts = [(utc_day_of(due), charge) for due, charges in charges_by_due for charge in charges]
    if not parts:
        return []
    caps = selectors.caps_of_workspace_and_agent(workspace_id=workspace_id, agent_id=agent_id, workspace=workspace)
    rounds = {} if new else _next_rounds([charge.target_id for _, charge in parts])
    entries = [
        LedgerEntry(
            workspace_id=workspace_id,
            agent_id=agent_id or "",
            target_id=charge.target_id,
            platform=charge.platform,
            round=rounds.get(charge.target_id, 1),
            kind=EntryKind.HOLD,
            cents=charge.cents,
            url_posts=charge.url_posts,
            month=day.replace(day=1),
            day=day,
        )
        for day, charge in parts
    ]
    writes = insert_writes(entries)
    for month, demand in _sums(parts, lambda day: day.replace(day=1)):
        writes += [_month_write(own, month, demand) for own in caps.months]
    if agent_id is not None:
        writes += [_day_write(caps, agent_id, day, demand) for day, demand in _sums(parts, lambda day: day)]
    return writes


def run_writes_with_holds(writes: Sequence[Write]) -> Write | None:
    """Run writes that reserve money (`hold_writes`) with others, all or none; return None, or the other write that failed.

    Raises SpendCapExceeded, SocialUrlPostCapExceeded, PaymentMethodRequired or PostsPerDayCapExceeded, and RuntimeError after
    MAX_UPDATE_TRIES, which means that a limit and the check of its cap contradict each other.
    """
    for _ in range(MAX_UPDATE_TRIES):
        failed = write_together(writes)
        if failed is None or not isinstance(failed.subject, CounterIncrease):
            return failed
        failed.subject.check_caps()
        _insert_missing_counters([each.subject for each in writes if isinstance(each.subject, CounterIncrease)])
    raise RuntimeError("A counter cannot be increased, but no cap refuses it.")


def settle_holds(*, target_ids: Iterable[str]) -> None:
    """Record that the money reserved for published posts is spent, count the posts as published, and create usage reports.

    The usage reports are for spending beyond the free credit. Posts without reserved money are skipped.
    """
    entries = _entries_ending_holds(target_ids, EntryKind.SETTLE)
    writes = insert_writes(entries)
    for counter, ended in _month_counters(entries):
        amounts = {"held_cents": -ended.cents, "settled_cents": ended.cents}
        writes.append(counter_add_write(counter, MONTH_KEY, amounts))
    for key, ended in _grouped(entries, *USAGE_TOTAL_KEY_FIELDS):
        writes.append(_usage_write(key, published=ended.targets, url_posts=ended.url_posts, spend_cents=ended.cents))
    write_together(writes)
    create_usage_reports_for_spending(entries)


def release_holds(*, target_ids: Iterable[str], failed: bool) -> None:
    """Release the money reserved for posts that failed or were cancelled; with `failed`, count them as failed in the usage.

    Posts without reserved money are skipped.
    """
    entries = _entries_ending_holds(target_ids, EntryKind.RELEASE)
    writes = insert_writes(entries)
    for counter, ended in _month_counters(entries):
        amounts = {"held_cents": -ended.cents, "url_posts": -ended.url_posts}
        writes.append(counter_add_write(counter, MONTH_KEY, amounts))
    for (agent_id, day), ended in _grouped(entries, "agent_id", "day"):
        if agent_id:
            writes.append(counter_add_write(DayCounter(agent_id=agent_id, day=day), DAY_KEY, {"targets": -ended.targets}))
    if failed:
        writes += [_usage_write(key, failed=ended.targets) for key, ended in _grouped(entries, *USAGE_TOTAL_KEY_FIELDS)]
    write_together(writes)


def lock_month_counters(
    *, target_ids: Iterable[str], workspace_id: str, agent_id: str | None, due_times: Iterable[datetime]
) -> None:
    """Lock the counters of the months in which posts' money is reserved now and of the months to which it moves.

    Needed by transactions that release and hold: without it, two of them that move targets between months could deadlock.
    """
    _require_transaction()
    holds = LedgerEntry.objects.filter(target_id__in=list(target_ids), kind=EntryKind.HOLD)
    counters = {(holder_id, utc_month_of(due)) for due in due_times for holder_id in (workspace_id, agent_id or "")}
    for hold_agent_id, hold_workspace_id, month in holds.values_list("agent_id", "workspace_id", "month"):
        counters |= {(hold_agent_id, month), (hold_workspace_id, month)}
    to_lock = reduce(or_, (Q(holder_id=holder_id, month=month) for holder_id, month in counters))
    # The id prefixes sort agents before workspaces, which is the locking order.
    list(MonthCounter.objects.filter(to_lock).order_by("month", "holder_id").select_for_update())


def _require_transaction() -> None:
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError("Money must be moved inside the transaction of its target.")


def _sums(
    parts: Sequence[tuple[date, PublishingCharge]], period_of: Callable[[date], date]
) -> Iterator[tuple[date, ChargeTotals]]:
    """Yield each period of the charges, in order, with their sum. Two writes of one statement may not change one counter."""
    for period in sorted({period_of(day) for day, _ in parts}):
        yield period, ChargeTotals.of([charge for day, charge in parts if period_of(day) == period])


def _month_write(caps: MonthlyCaps, month: date, demand: ChargeTotals) -> Write:
    """Return the write that adds a demand to a month's counter. A demand of zero passes even if its cap was lowered."""
    first = MonthCounter(holder_id=caps.holder_id, month=month)
    limits: list[tuple[tuple[str, ...], int]] = []
    if demand.cents and caps.limit_cents is not None:
        limits.append((("held_cents", "settled_cents"), caps.limit_cents))
    if demand.url_posts and caps.url_post_cap is not None:
        limits.append((("url_posts",), caps.url_post_cap))
    amounts = {"held_cents": demand.cents, "url_posts": demand.url_posts}
    increase = CounterIncrease(first, MONTH_KEY, lambda counter: caps.check_caps_and_payment(counter, demand))
    return counter_add_write(first, MONTH_KEY, amounts, limits, subject=increase)


def _day_write(caps: WorkspaceAndAgentCaps, agent_id: str, day: date, demand: ChargeTotals) -> Write:
    first = DayCounter(agent_id=agent_id, day=day)
    limits = [] if caps.posts_per_day is None else [(("targets",), caps.posts_per_day)]
    increase = CounterIncrease(first, DAY_KEY, lambda counter: caps.check_day_cap(day, counter.targets, demand))
    return counter_add_write(first, DAY_KEY, {"targets": demand.targets}, limits, subject=increase)


def _usage_write(key: Sequence[Any], **amounts: int) -> Write:
    return counter_insert_or_add_write(
        UsageTotal(**dict(zip(USAGE_TOTAL_KEY_FIELDS, key, strict=True)), **amounts), USAGE_TOTAL_KEY_FIELDS, [*amounts]
    )


def _next_rounds(target_ids: list[str]) -> dict[str, int]:
    """Return, for each post that had money reserved before, the number of its next reservation (`round`): 2 or higher.

    Raises PriceAlreadyHeld.
    """
    before = (
        LedgerEntry.objects.filter(target_id__in=target_ids, kind__in=[EntryKind.HOLD, EntryKind.RELEASE])
        .values_list("target_id")
        .annotate(holds=Count("pk", filter=Q(kind=EntryKind.HOLD)), releases=Count("pk", filter=Q(kind=EntryKind.RELEASE)))
    )
    rounds = {}
    for target_id, holds, releases in before:
        if holds != releases:
            raise PriceAlreadyHeld(f"{target_id} is already held or settled.")
        rounds[target_id] = holds + 1
    return rounds


def _entries_ending_holds(target_ids: Iterable[str], kind: LedgerEntry.Kind) -> list[LedgerEntry]:
    """Return the new ledger entries which record that money reserved for posts is now spent or released.

    The holds are locked first, so that concurrent calls cannot close the same hold twice.
    """
    _require_transaction()
    if not (ids := list(target_ids)):
        return []
    entries = LedgerEntry.objects.filter(target_id__in=ids)
    holds = list(entries.filter(kind=EntryKind.HOLD).order_by("target_id", "round").select_for_update())
    if not holds:
        return []
    closed = set(entries.filter(kind__in=[EntryKind.SETTLE, EntryKind.RELEASE]).values_list("target_id", "round"))
    return [_closing_entry(hold, kind) for hold in holds if (hold.target_id, hold.round) not in closed]


def _closing_entry(hold: LedgerEntry, kind: LedgerEntry.Kind) -> LedgerEntry:
    return LedgerEntry(
        workspace_id=hold.workspace_id,
        agent_id=hold.agent_id,
        target_id=hold.target_id,
        platform=hold.platform,
        round=hold.round,
        kind=kind,
        cents=hold.cents,
        url_posts=hold.url_posts,
        month=hold.month,
        day=hold.day,
    )


def _month_counters(entries: list[LedgerEntry]) -> Iterator[tuple[MonthCounter, ChargeTotals]]:
    """Yield each month counter that the ledger entries change, with the sum of its entries, in the order of locking."""
    for month in sorted({entry.month for entry in entries}):
        of_month = [entry for entry in entries if entry.month == month]
        for holder in ("agent_id", "workspace_id"):
            for (holder_id, _), share in _grouped(of_month, holder, "month"):
                if holder_id:
                    yield MonthCounter(holder_id=holder_id, month=month), share


def _grouped(entries: list[LedgerEntry], *fields: str) -> Iterator[tuple[Any, ChargeTotals]]:
    key = attrgetter(*fields)
    for value, group in groupby(sorted(entries, key=key), key=key):
        yield value, ChargeTotals.of(list(group))
