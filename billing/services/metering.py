"""Reporting metered usage to the payment processor: only what goes beyond the free credit, once for each settled entry.

A report may be sent again while the processor still knows its identifier; after that, one whose outcome is unknown is left
to the reconciliation. So that an outage makes few of those, who sends pauses after an attempt without an answer and then
tries with one report, an unknown one first (billing/worker_loops.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db.models import F, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from billing import processor
from billing.models import LedgerEntry, MonthCounter, Subscription, UsageReport
from billing.plans import is_paid
from billing.processor import MeterReading, Receipt, Verdict
from billing.services.alarms import Kind, raise_alarm, resolve_alarms
from config.jobs.due import claim_due, give_back, held
from config.jobs.wake_up import wake
from workspaces.customers import customers_of
from workspaces.models import Workspace

LOOP = "usage_reports"
AT_ONCE = 8
LEASE = timedelta(seconds=60)
# The processor's own are 24 hours and 35 days; what is on its way must still come in time.
RESEND_WITHIN = timedelta(hours=23)
OLDEST = timedelta(days=34, hours=23)
WAIT_FOR_SUBSCRIPTION = timedelta(hours=1)
RETRY_SECONDS = (10, 60, 300, 900, 3600)
Status = UsageReport.Status
_MONTH = attrgetter("workspace_id", "month")


@dataclass(frozen=True)
class Round:
    """What came of one round of reporting."""

    claimed: int
    unanswered: int


def keep_reports(entries: Sequence[LedgerEntry]) -> None:
    """In paid mode, keep what has to be invoiced of entries that are being settled: by their month's total at this moment.

    The caller's transaction has moved the months' counters, so nobody else can move them before this is committed.
    """
    if not is_paid():
        return
    reports: list[UsageReport] = []
    for (workspace_id, month), settled in groupby(sorted(entries, key=_MONTH), key=_MONTH):
        reports += _reports_of(workspace_id, month, [entry for entry in settled if entry.cents])
    if reports:
        UsageReport.objects.bulk_create(reports)
        wake(LOOP)


def _reports_of(workspace_id: str, month: date, entries: Sequence[LedgerEntry]) -> list[UsageReport]:
    """The part of each entry that lies beyond the free credit, as if they had been settled one after another."""
    if not entries:
        return []
    counter = MonthCounter.objects.filter(holder_id=workspace_id, month=month)
    spent = counter.values_list("settled_cents", flat=True).get() - sum(entry.cents for entry in entries)
    free = Workspace.objects.values_list("free_monthly_credit_cents", flat=True).get(pk=workspace_id)
    reports, now = [], timezone.now()
    for entry in entries:
        spent += entry.cents
        beyond = min(entry.cents, spent - free)
        if beyond > 0:
            reports.append(
                UsageReport(
                    entry_id=entry.pk,
                    workspace_id=workspace_id,
                    month=month,
                    cents=beyond,
                    settled_at=entry.created_at,
                    due_at=now,
                )
            )
    return reports


def report_due_usage(*, limit: int = AT_ONCE) -> Round:
    """Claim due reports and send them, all at once; the database is left alone meanwhile."""
    claimed = _claim(limit)
    begun = _begin(claimed)
    if not begun:
        return Round(len(claimed), 0)
    with ThreadPoolExecutor(len(begun)) as threads:
        receipts = list(threads.map(processor.report_usage, [reading for _, reading in begun]))
    for (row, _), receipt in zip(begun, receipts, strict=True):
        _record(row, receipt)
    verdicts = [receipt.verdict for receipt in receipts]
    taken = {row.workspace_id for (row, _), verdict in zip(begun, verdicts, strict=True) if verdict is Verdict.RECORDED}
    for kind in (Kind.USAGE_WAITS, Kind.USAGE_REFUSED):
        resolve_alarms(kind, taken)
    return Round(len(claimed), sum(verdict in (Verdict.UNKNOWN, Verdict.UNSERVED) for verdict in verdicts))


def _claim(limit: int) -> list[UsageReport]:
    """Those of unknown outcome first, since their time runs."""
    first = claim_due(UsageReport.objects.filter(unknown_since__isnull=False), limit=limit, lease=LEASE)
    fresh = UsageReport.objects.filter(unknown_since=None)
    return first + claim_due(fresh, limit=limit - len(first), lease=LEASE)


def _begin(claimed: Sequence[UsageReport]) -> list[tuple[UsageReport, MeterReading]]:
    """What is to be sent now, each written down as begun before a byte of it leaves."""
    now = timezone.now()
    workspace_ids = {row.workspace_id for row in claimed}
    customers = customers_of(workspace_ids)
    subscriptions = Subscription.objects.filter(pk__in=workspace_ids)
    paying = {each.pk for each in subscriptions if each.entitles(now) and customers.get(each.pk)}
    begun, waiting = [], []
    for row in claimed:
        if reason := _too_late(row, now):
            _leave(row, reason)
        elif row.workspace_id not in paying:
            waiting.append(row)
        elif reading := _begun(row, customers[row.workspace_id], now):
            begun.append((row, reading))
    for workspace_id in sorted({row.workspace_id for row in waiting}):
        _wait_for_subscription(workspace_id, now)
    give_back(waiting)
    return begun


def _too_late(row: UsageReport, now: datetime) -> str | None:
    if row.unknown_since and now - row.unknown_since > RESEND_WITHIN:
        return f"nobody knows whether the processor has it ({row.cents} cents; {row.last_error or 'no answer'})"
    if now - row.settled_at > OLDEST:
        return f"{row.cents} cents were settled too long ago for the processor to take them"
    return None


def _leave(row: UsageReport, reason: str) -> None:
    """It is not sent any more."""
    rows = held(UsageReport.objects.all(), row)
    if rows.update(status=Status.UNRESOLVED, due_at=None, lease_until=None):
        raise_alarm(Kind.USAGE_UNRESOLVED, row.pk, f"Usage of {row.workspace_id} is not reported any more: {reason}.")


def _begun(row: UsageReport, customer_id: str, now: datetime) -> MeterReading | None:
    begins = {
        "attempts": F("attempts") + 1,
        "unknown_since": Coalesce("unknown_since", now),
        "customer_id": customer_id,
    }
    if not held(UsageReport.objects.all(), row).update(**begins):
        return None
    row.attempts += 1
    return MeterReading(row.pk, customer_id, row.cents, row.settled_at, row.attempts)


def _wait_for_subscription(workspace_id: str, now: datetime) -> None:
    """All that waits of a workspace waits longer; a subscription that begins sets it going (services/subscriptions.py)."""
    rows = UsageReport.objects.filter(workspace_id=workspace_id, status=Status.PENDING)
    if rows.update(due_at=now + WAIT_FOR_SUBSCRIPTION):
        waiting = rows.aggregate(cents=Sum("cents", default=0))["cents"]
        detail = f"{waiting} cents beyond the free credit cannot be reported: no subscription pays for them."
        raise_alarm(Kind.USAGE_WAITS, workspace_id, detail)


def _record(row: UsageReport, receipt: Receipt) -> None:
    """`row.unknown_since` still says what was known before this attempt."""
    now = timezone.now()
    again = now + timedelta(seconds=RETRY_SECONDS[min(row.attempts, len(RETRY_SECONDS)) - 1])
    outcome: dict[str, Any] = {"due_at": again, "last_error": receipt.fault}
    if receipt.verdict is Verdict.RECORDED:
        outcome = {"status": Status.SENT, "sent_at": now, "due_at": None}
    elif receipt.verdict is not Verdict.UNKNOWN:
        outcome["unknown_since"] = row.unknown_since
    held(UsageReport.objects.all(), row).update(lease_until=None, **outcome)
    if receipt.verdict is Verdict.REFUSED:
        raise_alarm(Kind.USAGE_REFUSED, row.workspace_id, f"Usage report {row.pk}: {receipt.fault}")
