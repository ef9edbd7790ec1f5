"""The money of targets: held when a group is released, settled when a target is published, released when it is not.

The caller's transaction carries the state that goes with it, so each function here demands to run inside one. Counters
are locked in one order everywhere: month by month agents before workspaces, then agents' days, usage totals.
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
from billing.caps import Caps, Demand, MonthCaps, day_of, month_of
from billing.models import DayCounter, LedgerEntry, MonthCounter, UsageTotal
from billing.prices import Charge
from billing.services.metering import keep_reports

Kind = LedgerEntry.Kind
MOST_ROUNDS = 100


def hold(
    *, workspace_id: str, agent_id: str | None, charges: Sequence[Charge], due: datetime, new: bool = False
) -> None:
    """Hold what the targets will cost in the UTC month of `due`, all of them or none; `new` ones were never held.

    Raises SpendCapExceeded, SocialUrlPostCapExceeded, PaymentMethodRequired or PostsPerDayCapExceeded; the caller's
    transaction must then roll back, since the entries are written and the agent's counter may have moved already.
    ValueError: a target is held or settled already.
    """
    _require_transaction()
    if not charges:
        return
    demand, month, day = Demand.of(charges), month_of(due), day_of(due)
    caps = selectors.caps_of(workspace_id=workspace_id, agent_id=agent_id)
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


def settle(*, target_id: str) -> None:
    """The target is published: what was held for it is spent. Without an open hold nothing changes."""
    settle_many(target_ids=[target_id])


def settle_many(*, target_ids: Iterable[str]) -> None:
    """`settle` for several targets; what of them goes beyond the free credit is to be invoiced."""
    _require_transaction()
    entries = _end_holds(target_ids, Kind.SETTLE)
    for rows, ended in _months(entries):
        rows.update(held_cents=F("held_cents") - ended.cents, settled_cents=F("settled_cents") + ended.cents)
    for key, ended in _grouped(entries, "workspace_id", "month", "agent_id", "platform"):
        _count_usage(key, published=ended.targets, url_posts=ended.url_posts, spend_cents=ended.cents)
    keep_reports(entries)


def release(*, target_id: str, failed: bool) -> None:
    """The target failed or was cancelled: what was held for it is free again. Without an open hold nothing changes."""
    release_many(target_ids=[target_id], failed=failed)


def release_many(*, target_ids: Iterable[str], failed: bool) -> None:
    """`release` for several targets; those without an open hold are passed over."""
    _require_transaction()
    entries = _end_holds(target_ids, Kind.RELEASE)
    for rows, ended in _months(entries):
        rows.update(held_cents=F("held_cents") - ended.cents, url_posts=F("url_posts") - ended.url_posts)
    for (agent_id, day), ended in _grouped(entries, "agent_id", "day"):
        if agent_id:
            DayCounter.objects.filter(agent_id=agent_id, day=day).update(targets=F("targets") - ended.targets)
    if failed:
        for key, ended in _grouped(entries, "workspace_id", "month", "agent_id", "platform"):
            _count_usage(key, failed=ended.targets)


def lock_months(*, target_ids: Iterable[str], workspace_id: str, agent_id: str | None, due: datetime) -> None:
    """Lock the month counters that these targets' holds stand in and those that a hold for `due` will enter.

    For who releases and holds in one transaction: from one month to another and back, two would wait for each other.
    """
    _require_transaction()
    holds = LedgerEntry.objects.filter(target_id__in=list(target_ids), kind=Kind.HOLD)
    counters = {(workspace_id, month_of(due)), (agent_id or "", month_of(due))}
    for hold_agent_id, hold_workspace_id, month in holds.values_list("agent_id", "workspace_id", "month"):
        counters |= {(hold_agent_id, month), (hold_workspace_id, month)}
    wanted = reduce(or_, (Q(holder_id=holder_id, month=month) for holder_id, month in counters))
    # By their prefixes agents come before workspaces, as everywhere.
    list(MonthCounter.objects.filter(wanted).order_by("month", "holder_id").select_for_update())


def _require_transaction() -> None:
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError("Money moves only inside the transaction of what it is for.")


def _hold_month(caps: MonthCaps, month: date, demand: Demand) -> None:
    first = MonthCounter(holder_id=caps.holder_id, month=month)
    rows = MonthCounter.objects.filter(holder_id=caps.holder_id, month=month)
    room = rows.with_room_for(
        cents=demand.cents,
        limit_cents=caps.limit_cents,
        url_posts=demand.url_posts,
        url_post_cap=caps.url_post_cap,
    )
    amounts = {"held_cents": demand.cents, "url_posts": demand.url_posts}
    _add(amounts, rows, room, first, refuse=lambda counter: caps.refuse(counter, demand))


def _hold_day(caps: Caps, agent_id: str, day: date, demand: Demand) -> None:
    rows = DayCounter.objects.filter(agent_id=agent_id, day=day)
    room = rows if caps.posts_per_day is None else rows.filter(targets__lte=caps.posts_per_day - demand.targets)
    _add(
        {"targets": demand.targets},
        rows,
        room,
        DayCounter(agent_id=agent_id, day=day),
        refuse=lambda counter: caps.refuse_beyond_day(day, counter.targets, demand),
    )


def _count_usage(key: tuple[Any, ...], **amounts: int) -> None:
    named = dict(zip(("workspace_id", "month", "agent_id", "platform"), key, strict=True))
    rows = UsageTotal.objects.filter(**named)
    _add(amounts, rows, rows, UsageTotal(**named), refuse=lambda _: None)


def _add(
    amounts: dict[str, int],
    rows: QuerySet[Any],
    room: QuerySet[Any],
    first: models.Model,
    *,
    refuse: Callable[[Any], None],
) -> None:
    """Add to the one counter of `rows`, as long as it is among those that have `room`: one guarded update.

    When it hits nothing, `refuse` looks at the counter and raises. It finds nothing wrong where the row was missing
    (then `first` is inserted) or where room came free in between; both go round again. RuntimeError: they went round
    without end, so the update and `refuse` do not mean the same.
    """
    plus = {name: F(name) + amount for name, amount in amounts.items()}
    for _ in range(MOST_ROUNDS):
        if room.update(**plus):
            return
        refuse(rows.first() or first)
        type(first)._default_manager.bulk_create([first], ignore_conflicts=True)
    raise RuntimeError(f"{first} takes no more, and nothing says why.")


def _next_rounds(target_ids: list[str]) -> dict[str, int]:
    """The next round of the targets that were held before. Raises ValueError when one of them is not free."""
    before = (
        LedgerEntry.objects.filter(target_id__in=target_ids, kind__in=[Kind.HOLD, Kind.RELEASE])
        .values_list("target_id")
        .annotate(holds=Count("pk", filter=Q(kind=Kind.HOLD)), releases=Count("pk", filter=Q(kind=Kind.RELEASE)))
    )
    rounds = {}
    for target_id, holds, releases in before:
        if holds != releases:
            raise ValueError(f"{target_id} is held or settled already.")
        rounds[target_id] = holds + 1
    return rounds


def _end_holds(target_ids: Iterable[str], kind: LedgerEntry.Kind) -> list[LedgerEntry]:
    """Enter the end of the targets' open holds; returns these entries, which stand in the months of their holds.

    The holds are locked before their ends are looked for, so two who end one at the same time come after each other.
    """
    if not (ids := list(target_ids)):
        return []
    held = LedgerEntry.objects.filter(target_id__in=ids)
    holds = list(held.filter(kind=Kind.HOLD).order_by("target_id", "round").select_for_update())
    if not holds:
        return []
    ended = set(held.filter(kind__in=[Kind.SETTLE, Kind.RELEASE]).values_list("target_id", "round"))
    ends = [_end_of(hold, kind) for hold in holds if (hold.target_id, hold.round) not in ended]
    return LedgerEntry.objects.bulk_create(ends)


def _end_of(hold: LedgerEntry, kind: LedgerEntry.Kind) -> LedgerEntry:
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


def _months(entries: list[LedgerEntry]) -> Iterator[tuple[QuerySet[MonthCounter], Demand]]:
    """The month counters that the entries stand in, each with its share, in the order of locking."""
    for month in sorted({entry.month for entry in entries}):
        of_month = [entry for entry in entries if entry.month == month]
        for holder in ("agent_id", "workspace_id"):
            for (holder_id, _), share in _grouped(of_month, holder, "month"):
                if holder_id:
                    yield MonthCounter.objects.filter(holder_id=holder_id, month=month), share


def _grouped(entries: list[LedgerEntry], *fields: str) -> Iterator[tuple[Any, Demand]]:
    key = attrgetter(*fields)
    for value, group in groupby(sorted(entries, key=key), key=key):
        yield value, Demand.of(list(group))
