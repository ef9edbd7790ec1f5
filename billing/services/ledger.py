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
from billing.caps import ChargeTotals, MonthlyCaps, WorkspaceAndAgentCaps, first_day_of_utc_month, utc_day_of
from billing.models import DayCounter, LedgerEntry, MonthCounter, UsageTotal
from billing.prices import PublishingCharge
from billing.services.usage_reporting import create_usage_reports_beyond_free_credit
from billing.subscription_plans import has_payment_processor
from config.db.fixed_select import FixedSelect
from config.db.writes import (
    Write,
    build_counter_upsert_write,
    build_insert_writes,
    build_limited_counter_add_write,
    write_all_or_return_failed,
)
from workspaces.models import Workspace

EntryKind = LedgerEntry.Kind
MAX_UPDATE_TRIES = 100
MONTH_KEY, DAY_KEY = ("holder_id", "month"), ("agent_id", "day")
USAGE_TOTAL_KEY_FIELDS = ("workspace_id", "month", "agent_id", "platform")
_entries_of_targets = FixedSelect(LedgerEntry, where_in="target_id")


class PriceAlreadyReserved(Exception):
    """The ledger's internal exception, not an API error, for a post target whose price is already reserved or spent."""


@dataclass(frozen=True)
class CounterCapCheck:
    """Finds which cap stopped the increase of a month's or day's spending or post counter, and raises that cap's error.

    `first` is the counter's row with zeros, used if there is no row yet. `refuse` raises the error of an exceeded cap.
    """

    first: models.Model
    key: tuple[str, ...]
    refuse: Callable[[Any], None]

    def raise_if_cap_exceeded(self) -> None:
        """Read the month's or day's counter again, and raise the API error if this increase would exceed one of its caps."""
        rows = type(self.first)._default_manager.filter(**{name: getattr(self.first, name) for name in self.key})
        self.refuse(rows.first() or self.first)


def _insert_missing_counters(increases: Sequence[CounterCapCheck]) -> None:
    """Insert the missing rows of MonthCounter and DayCounter for these increases, in the order of locking counters."""
    for model, group in groupby(increases, key=lambda increase: type(increase.first)):
        model._default_manager.bulk_create([increase.first for increase in group], ignore_conflicts=True)


def build_money_hold_writes(
    *,
    workspace_id: str,
    agent_id: str | None,
    charges_by_due: Iterable[tuple[datetime, Sequence[PublishingCharge]]],
    new: bool = False,
    workspace: Workspace | None = None,
) -> list[Write]:
    """Return the database writes that reserve money in the billing ledger for posts due at these times.

    `new` targets never had a hold before. `workspace` is the row, if the caller has read it. Raises PriceAlreadyReserved.
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
    writes = build_insert_writes(entries)
    for month, demand in _sums(parts, lambda day: day.replace(day=1)):
        writes += [_month_write(own, month, demand) for own in caps.months]
    if agent_id is not None:
        writes += [_day_write(caps, agent_id, day, demand) for day, demand in _sums(parts, lambda day: day)]
    return writes


def run_writes_reserving_money(writes: Sequence[Write]) -> Write | None:
    """Run database writes of which some reserve money, all or none; return None, or the write that failed.

    Raises SpendCapExceeded, UrlPostCapExceeded, PaymentMethodRequired or PostsPerDayCapExceeded, and RuntimeError after
    MAX_UPDATE_TRIES, which means that a limit and the check of its cap contradict each other.
    """
    for _ in range(MAX_UPDATE_TRIES):
        failed = write_all_or_return_failed(writes)
        if failed is None or not isinstance(failed.subject, CounterCapCheck):
            return failed
        failed.subject.raise_if_cap_exceeded()
        _insert_missing_counters([each.subject for each in writes if isinstance(each.subject, CounterCapCheck)])
    raise RuntimeError("A counter cannot be increased, but no cap refuses it.")


def run_writes_settling_money(writes: Sequence[Write], *, settled: Iterable[str], failed: Iterable[str]) -> Write | None:
    """Run database writes that finish posts, and spend or release the posts' money; return None, or the write that failed.

    The money of `settled` posts is spent and counted as published, that of `failed` ones is released. The writes must be
    guarded, so that a post cannot be finished twice.
    """
    entries = _entries_ending_holds(settled=list(settled), released=list(failed))
    every = [*writes, *_writes_of_ended_holds(entries, failed=True)]
    if not has_payment_processor():
        return write_all_or_return_failed(every)
    with transaction.atomic():
        refused = write_all_or_return_failed(every)
        if refused is None:
            create_usage_reports_beyond_free_credit(entries)
    return refused


def settle_holds_as_spent(*, target_ids: Iterable[str]) -> None:
    """Record in the ledger that money held for published posts is spent; count the posts, and create usage reports.

    The usage reports are for spending beyond the free credit. Posts without reserved money are skipped.
    """
    entries = _entries_ending_holds(settled=_locked_holds(target_ids))
    write_all_or_return_failed(_writes_of_ended_holds(entries))
    create_usage_reports_beyond_free_credit(entries)


def release_holds(*, target_ids: Iterable[str], failed: bool) -> None:
    """Release in the ledger the money held for failed or cancelled posts; with `failed`, count them as failed.

    Posts without reserved money are skipped.
    """
    entries = _entries_ending_holds(released=_locked_holds(target_ids))
    write_all_or_return_failed(_writes_of_ended_holds(entries, failed=failed))


def _writes_of_ended_holds(entries: list[LedgerEntry], *, failed: bool = False) -> list[Write]:
    """Return the database writes that add ledger entries of spent or released money, and that update the counters."""
    writes = build_insert_writes(entries)
    for counter, of_counter in _month_counters(entries):
        spent, released = _spent_and_released(of_counter)
        held_cents = -spent.cents - released.cents
        amounts = {"held_cents": held_cents, "settled_cents": spent.cents, "url_posts": -released.url_posts}
        writes.append(build_limited_counter_add_write(counter, MONTH_KEY, amounts))
    for (agent_id, day), of_day in _grouped(entries, "agent_id", "day"):
        _, released = _spent_and_released(of_day)
        if agent_id and released.targets:
            amounts = {"targets": -released.targets}
            writes.append(build_limited_counter_add_write(DayCounter(agent_id=agent_id, day=day), DAY_KEY, amounts))
    for key, of_key in _grouped(entries, *USAGE_TOTAL_KEY_FIELDS):
        spent, released = _spent_and_released(of_key)
        if spent.targets or failed:
            amounts = {"published": spent.targets, "url_posts": spent.url_posts, "spend_cents": spent.cents}
            writes.append(_usage_write(key, failed=released.targets, **amounts))
    return writes


def lock_month_counters_in_order(
    *, target_ids: Iterable[str], workspace_id: str, agent_ids: Iterable[str], due_times: Iterable[datetime]
) -> None:
    """Lock the month counters in which the money of these posts is or will be reserved, always in the same order.

    Needed by transactions that release and hold, or hold for several agents: without it, two of them could deadlock.
    """
    _require_transaction()
    holds = LedgerEntry.objects.filter(target_id__in=list(target_ids), kind=EntryKind.HOLD)
    holders = {workspace_id, *agent_ids}
    counters = {(holder_id, first_day_of_utc_month(due)) for due in due_times for holder_id in holders}
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
    """Yield the UTC months (or days) of the charges to reserve in the ledger, each with the sum of its charges."""
    for period in sorted({period_of(day) for day, _ in parts}):
        yield period, ChargeTotals.sum_of([charge for day, charge in parts if period_of(day) == period])


def _month_write(caps: MonthlyCaps, month: date, demand: ChargeTotals) -> Write:
    """Return the database write that adds reserved money to a month's counter, and that fails if a cap would be exceeded."""
    first = MonthCounter(holder_id=caps.holder_id, month=month)
    limits: list[tuple[tuple[str, ...], int]] = []
    if demand.cents and caps.spending_limit_cents is not None:  # 0 cents pass even a lowered cap
        limits.append((("held_cents", "settled_cents"), caps.spending_limit_cents))
    if demand.url_posts and caps.url_post_cap is not None:
        limits.append((("url_posts",), caps.url_post_cap))
    amounts = {"held_cents": demand.cents, "url_posts": demand.url_posts}
    increase = CounterCapCheck(first, MONTH_KEY, lambda counter: caps.check_caps_and_payment(counter, demand))
    return build_limited_counter_add_write(first, MONTH_KEY, amounts, limits, subject=increase)


def _day_write(caps: WorkspaceAndAgentCaps, agent_id: str, day: date, demand: ChargeTotals) -> Write:
    first = DayCounter(agent_id=agent_id, day=day)
    limits = [] if caps.posts_per_day is None else [(("targets",), caps.posts_per_day)]
    check = caps.raise_if_agent_posts_per_day_exceeded
    increase = CounterCapCheck(first, DAY_KEY, lambda counter: check(day, counter.targets, demand))
    return build_limited_counter_add_write(first, DAY_KEY, {"targets": demand.targets}, limits, subject=increase)


def _usage_write(key: Sequence[Any], **amounts: int) -> Write:
    return build_counter_upsert_write(
        UsageTotal(**dict(zip(USAGE_TOTAL_KEY_FIELDS, key, strict=True)), **amounts), USAGE_TOTAL_KEY_FIELDS, [*amounts]
    )


def _next_rounds(target_ids: list[str]) -> dict[str, int]:
    """Return the number (`round`) of the next reservation for posts that had one before. Raises PriceAlreadyReserved."""
    before = (
        LedgerEntry.objects.filter(target_id__in=target_ids, kind__in=[EntryKind.HOLD, EntryKind.RELEASE])
        .values_list("target_id")
        .annotate(holds=Count("pk", filter=Q(kind=EntryKind.HOLD)), releases=Count("pk", filter=Q(kind=EntryKind.RELEASE)))
    )
    rounds = {}
    for target_id, holds, releases in before:
        if holds != releases:
            raise PriceAlreadyReserved(f"{target_id} is already held or settled.")
        rounds[target_id] = holds + 1
    return rounds


def _locked_holds(target_ids: Iterable[str]) -> list[str]:
    """Lock the ledger entries that reserve these posts' money, so that it is spent or released once; return the ids."""
    _require_transaction()
    if ids := list(target_ids):
        holds = LedgerEntry.objects.filter(target_id__in=ids, kind=EntryKind.HOLD).order_by("target_id", "round")
        list(holds.select_for_update().values_list("pk"))
    return ids


def _entries_ending_holds(*, settled: Sequence[str] = (), released: Sequence[str] = ()) -> list[LedgerEntry]:
    """Return the new ledger entries which record that money reserved for posts is now spent or released."""
    kinds = {**dict.fromkeys(settled, EntryKind.SETTLE), **dict.fromkeys(released, EntryKind.RELEASE)}
    entries = _entries_of_targets(kinds) if kinds else []
    closed = {(each.target_id, each.round) for each in entries if each.kind in (EntryKind.SETTLE, EntryKind.RELEASE)}
    holds = [each for each in entries if each.kind == EntryKind.HOLD and (each.target_id, each.round) not in closed]
    return [_closing_entry(hold, kinds[hold.target_id]) for hold in holds]


def _closing_entry(hold: LedgerEntry, kind: LedgerEntry.Kind) -> LedgerEntry:
    same = ("workspace_id", "agent_id", "target_id", "platform", "round", "cents", "url_posts", "month", "day")
    return LedgerEntry(kind=kind, **{name: getattr(hold, name) for name in same})


def _month_counters(entries: list[LedgerEntry]) -> Iterator[tuple[MonthCounter, list[LedgerEntry]]]:
    """Yield each month counter that new ledger entries change, with the entries that change it, in the order of locking."""
    for month in sorted({entry.month for entry in entries}):
        of_month = [entry for entry in entries if entry.month == month]
        for holder in ("agent_id", "workspace_id"):
            for (holder_id, _), share in _grouped(of_month, holder, "month"):
                if holder_id:
                    yield MonthCounter(holder_id=holder_id, month=month), share


def _spent_and_released(entries: list[LedgerEntry]) -> tuple[ChargeTotals, ChargeTotals]:
    spent, released = (
        ChargeTotals.sum_of([entry for entry in entries if entry.kind == kind])
        for kind in (EntryKind.SETTLE, EntryKind.RELEASE)
    )
    return spent, released


def _grouped(entries: list[LedgerEntry], *fields: str) -> Iterator[tuple[Any, list[LedgerEntry]]]:
    key = attrgetter(*fields)
    for value, group in groupby(sorted(entries, key=key), key=key):
        yield value, list(group)
