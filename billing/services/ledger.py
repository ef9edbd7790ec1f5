"""Reserves money for posts before they are published, then spends or releases the money, all in the billing ledger.

Money is held when a post group is scheduled, settled when a target is published, and released when it fails. Each function
must run inside the transaction that saves the target's state. Counters are always locked in the same order: by month,
agents before workspaces, then agents' days, then usage totals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from functools import reduce
from itertools import groupby
from operator import attrgetter, or_
from typing import Any

from django.db import models, transaction
from django.db.models import Count, F, Q, QuerySet

from billing import selectors
from billing.caps import Caps, ChargeTotals, MonthlyCaps, utc_day_of, utc_month_of
from billing.models import DayCounter, LedgerEntry, MonthCounter, UsageTotal
from billing.prices import PublishingCharge
from billing.services.usage_reporting import create_usage_reports_for_charges

Kind = LedgerEntry.Kind
MAX_UPDATE_TRIES = 100


def hold_costs(
    *, workspace_id: str, agent_id: str | None, charges: Sequence[PublishingCharge], due: datetime, new: bool = False
) -> None:
    """Reserve money in the billing ledger for publishing posts in the month of `due`: for all of the posts or for none.

    `new` targets never had a hold before.

    Raises SpendCapExceeded, SocialUrlPostCapExceeded, PaymentMethodRequired or PostsPerDayCapExceeded. The caller's
    transaction must then roll back, because entries and counters may already be written. Raises ValueError if a target
    is already held or settled.
    """
    _require_transaction()
    if not charges:
        return
    demand, month, day = ChargeTotals.of(charges), utc_month_of(due), utc_day_of(due)
    caps = selectors.caps_of_workspace_and_agent(workspace_id=workspace_id, agent_id=agent_id)
    rounds = {} if new else _next_rounds([charge.target_id for charge in charges])
    LedgerEntry.objects.bulk_create(
        LedgerEntry(
            workspace_id=workspace_id,
            agent_id=agent_id or "",
            target_id=charge.target_id,
            platform=charge.platform,
            round=rounds.get(charge.target_id, 1),
            kind=Kind.HOLD,
            cents=charge.cents,
            url_posts=charge.url_posts,
            month=month,
            day=day,
        )
        for charge in charges
    )
    for own in caps.months:
        _hold_month(own, month, demand)
    if agent_id is not None:
        _hold_day(caps, agent_id, day, demand)


def settle_holds(*, target_ids: Iterable[str]) -> None:
    """Record that the money reserved for published posts is spent; creates usage reports beyond the free credit."""
    _require_transaction()
    entries = _close_holds(target_ids, Kind.SETTLE)
    for rows, ended in _months(entries):
        rows.update(held_cents=F("held_cents") - ended.cents, settled_cents=F("settled_cents") + ended.cents)
    for key, ended in _grouped(entries, "workspace_id", "month", "agent_id", "platform"):
        _count_usage(key, published=ended.targets, url_posts=ended.url_posts, spend_cents=ended.cents)
    create_usage_reports_for_charges(entries)


def release_holds(*, target_ids: Iterable[str], failed: bool) -> None:
    """Release the money reserved for failed or cancelled posts. Posts without reserved money are skipped."""
    _require_transaction()
    entries = _close_holds(target_ids, Kind.RELEASE)
    for rows, ended in _months(entries):
        rows.update(held_cents=F("held_cents") - ended.cents, url_posts=F("url_posts") - ended.url_posts)
    for (agent_id, day), ended in _grouped(entries, "agent_id", "day"):
        if agent_id:
            DayCounter.objects.filter(agent_id=agent_id, day=day).update(targets=F("targets") - ended.targets)
    if failed:
        for key, ended in _grouped(entries, "workspace_id", "month", "agent_id", "platform"):
            _count_usage(key, failed=ended.targets)


def lock_month_counters(*, target_ids: Iterable[str], workspace_id: str, agent_id: str | None, due: datetime) -> None:
    """Lock the counters of the months in which posts' money is reserved now and of the month of `due`, to which it moves.

    Needed by transactions that release and hold: without it, two of them that move targets between months could deadlock.
    """
    _require_transaction()
    holds = LedgerEntry.objects.filter(target_id__in=list(target_ids), kind=Kind.HOLD)
    counters = {(workspace_id, utc_month_of(due)), (agent_id or "", utc_month_of(due))}
    for hold_agent_id, hold_workspace_id, month in holds.values_list("agent_id", "workspace_id", "month"):
        counters |= {(hold_agent_id, month), (hold_workspace_id, month)}
    to_lock = reduce(or_, (Q(holder_id=holder_id, month=month) for holder_id, month in counters))
    # The id prefixes sort agents before workspaces, which is the locking order.
    list(MonthCounter.objects.filter(to_lock).order_by("month", "holder_id").select_for_update())


def _require_transaction() -> None:
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError("Money must be moved inside the transaction of its target.")


def _hold_month(caps: MonthlyCaps, month: date, demand: ChargeTotals) -> None:
    first = MonthCounter(holder_id=caps.holder_id, month=month)
    rows = MonthCounter.objects.filter(holder_id=caps.holder_id, month=month)
    allowed = rows.with_capacity_for(
        cents=demand.cents, limit_cents=caps.limit_cents, url_posts=demand.url_posts, url_post_cap=caps.url_post_cap
    )
    amounts = {"held_cents": demand.cents, "url_posts": demand.url_posts}
    _add(amounts, rows, allowed, first, refuse=lambda counter: caps.check_caps_and_payment(counter, demand))


def _hold_day(caps: Caps, agent_id: str, day: date, demand: ChargeTotals) -> None:
    rows = DayCounter.objects.filter(agent_id=agent_id, day=day)
    allowed = rows if caps.posts_per_day is None else rows.filter(targets__lte=caps.posts_per_day - demand.targets)
    _add(
        {"targets": demand.targets},
        rows,
        allowed,
        DayCounter(agent_id=agent_id, day=day),
        refuse=lambda counter: caps.check_day_cap(day, counter.targets, demand),
    )


def _count_usage(key: tuple[Any, ...], **amounts: int) -> None:
    named = dict(zip(("workspace_id", "month", "agent_id", "platform"), key, strict=True))
    rows = UsageTotal.objects.filter(**named)
    _add(amounts, rows, rows, UsageTotal(**named), refuse=lambda _: None)


def _add(
    amounts: dict[str, int],
    rows: QuerySet[Any],
    allowed: QuerySet[Any],
    first: models.Model,
    *,
    refuse: Callable[[Any], None],
) -> None:
    """Add amounts to a counter of spending or posts by a single database update, unless that would exceed a cap.

    If the update changes nothing, `refuse` checks the counter and raises. It does not raise if the row is missing (then
    `first` is inserted) or if a concurrent release has made the amounts fit; in both cases the update is repeated. Raises
    RuntimeError after MAX_UPDATE_TRIES, which means that `allowed` and `refuse` contradict each other.
    """
    plus = {name: F(name) + amount for name, amount in amounts.items()}
    for _ in range(MAX_UPDATE_TRIES):
        if allowed.update(**plus):
            return
        refuse(rows.first() or first)
        type(first)._default_manager.bulk_create([first], ignore_conflicts=True)
    raise RuntimeError(f"{first} cannot be updated, but no cap refuses it.")


def _next_rounds(target_ids: list[str]) -> dict[str, int]:
    """Return, for each post that had money reserved before, the number of its next reservation (`round`): 2 or higher.

    Raises ValueError if a target is still held or settled.
    """
    before = (
        LedgerEntry.objects.filter(target_id__in=target_ids, kind__in=[Kind.HOLD, Kind.RELEASE])
        .values_list("target_id")
        .annotate(holds=Count("pk", filter=Q(kind=Kind.HOLD)), releases=Count("pk", filter=Q(kind=Kind.RELEASE)))
    )
    rounds = {}
    for target_id, holds, releases in before:
        if holds != releases:
            raise ValueError(f"{target_id} is already held or settled.")
        rounds[target_id] = holds + 1
    return rounds


def _close_holds(target_ids: Iterable[str], kind: LedgerEntry.Kind) -> list[LedgerEntry]:
    """Record that money reserved for posts is now spent or released; returns the ledger entries that were added.

    The holds are locked first, so that concurrent calls cannot close the same hold twice.
    """
    if not (ids := list(target_ids)):
        return []
    entries = LedgerEntry.objects.filter(target_id__in=ids)
    holds = list(entries.filter(kind=Kind.HOLD).order_by("target_id", "round").select_for_update())
    if not holds:
        return []
    closed = set(entries.filter(kind__in=[Kind.SETTLE, Kind.RELEASE]).values_list("target_id", "round"))
    closing = [_closing_entry(hold, kind) for hold in holds if (hold.target_id, hold.round) not in closed]
    return LedgerEntry.objects.bulk_create(closing)


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


def _months(entries: list[LedgerEntry]) -> Iterator[tuple[QuerySet[MonthCounter], ChargeTotals]]:
    """Yield each month counter that the ledger entries change, with the sum of its entries, in the order of locking."""
    for month in sorted({entry.month for entry in entries}):
        of_month = [entry for entry in entries if entry.month == month]
        for holder in ("agent_id", "workspace_id"):
            for (holder_id, _), share in _grouped(of_month, holder, "month"):
                if holder_id:
                    yield MonthCounter.objects.filter(holder_id=holder_id, month=month), share


def _grouped(entries: list[LedgerEntry], *fields: str) -> Iterator[tuple[Any, ChargeTotals]]:
    key = attrgetter(*fields)
    for value, group in groupby(sorted(entries, key=key), key=key):
        yield value, ChargeTotals.of(list(group))
