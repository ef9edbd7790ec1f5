"""Reports usage beyond the free credit to the payment processor, once for each ledger entry of spent or credited money.

A report with an unknown outcome may be sent again while the processor still recognizes its identifier; later it is left to
the reconciliation. To limit the number of such reports in an outage, the worker loop pauses after an attempt without an
answer and then tries a single report, one with an unknown outcome first (billing/worker_loops.py).
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

from billing import processor, selectors
from billing.models import LedgerEntry, MonthCounter, Subscription, UsageReport
from billing.processor import MeterEvent, UsageReportOutcome, UsageReportResponse
from billing.services.alarms import AlarmKind, open_or_update_alarm, resolve_alarms_about
from billing.subscription_plans import has_payment_processor
from config.jobs.claims import claim_due, claimed_row_queryset, release_claims
from config.jobs.wake_up import wake_worker_loop_after_commit
from workspaces.models import Workspace
from workspaces.processor_customers import customer_id_by_workspace_id

USAGE_REPORTS_LOOP = "usage_reports"
REPORTS_AT_ONCE = 8
REPORT_LEASE = timedelta(seconds=60)
# The processor's limits are 24 hours and 35 days; these leave time for the request.
RESEND_WITHIN = timedelta(hours=23)
MAX_REPORT_AGE = timedelta(days=34, hours=23)
WAIT_FOR_SUBSCRIPTION = timedelta(hours=1)
REPORT_RETRY_SECONDS = (10, 60, 300, 900, 3600)
ReportStatus = UsageReport.Status
_MONTH = attrgetter("workspace_id", "month")


@dataclass(frozen=True)
class UsageReportRunResult:
    """The result of one run of sending usage reports: how many were claimed, and how many got no answer.

    `claimed` includes reports that were postponed or given up. `unanswered`: the payment processor did not answer, could not
    be reached, or refuses all requests.
    """

    claimed: int
    unanswered: int


def create_usage_reports_beyond_free_credit(entries: Sequence[LedgerEntry]) -> None:
    """Create usage reports for the spending beyond the free credit, if the service has a payment processor.

    The caller's transaction has already updated the months' counters, so their rows are locked until it commits.
    """
    if not has_payment_processor():
        return
    reports: list[UsageReport] = []
    for (workspace_id, month), settled in groupby(sorted(entries, key=_MONTH), key=_MONTH):
        reports += _reports_of(workspace_id, month, [entry for entry in settled if entry.cents])
    if reports:
        UsageReport.objects.bulk_create(reports)
        wake_worker_loop_after_commit(USAGE_REPORTS_LOOP)


def _reports_of(workspace_id: str, month: date, entries: Sequence[LedgerEntry]) -> list[UsageReport]:
    """Return new usage reports for those parts of the ledger entries that were spent beyond the month's free credit.

    A credit takes back at most what was reported for its month, also if the free credit was lower then.
    """
    if not entries:
        return []
    counter = MonthCounter.objects.filter(holder_id=workspace_id, month=month)
    spent = counter.values_list("settled_cents", flat=True).get() - sum(entry.cents for entry in entries)
    free = Workspace.objects.values_list("free_monthly_credit_cents", flat=True).get(pk=workspace_id)
    reports, now = [], timezone.now()
    for entry in entries:
        beyond_before, spent = max(0, spent - free), spent + entry.cents
        beyond = max(0, spent - free) - beyond_before
        if beyond < 0:
            beyond = -min(-beyond, _reported_cents(workspace_id, month))
        if beyond:
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


def _reported_cents(workspace_id: str, month: date) -> int:
    """Return the sum of a workspace's usage reports of a month, sent or not, before new ones are created."""
    reports = selectors.usage_reports_of_month(workspace_id=workspace_id, month=month)
    return int(reports.aggregate(cents=Sum("cents", default=0))["cents"])


def send_or_postpone_due_usage_reports(*, limit: int = REPORTS_AT_ONCE) -> UsageReportRunResult:
    """Claim up to `limit` due usage reports and send them to the payment processor in parallel.

    Reports that are too old are given up, and reports that no subscription pays for are postponed. The processor is called
    outside of database transactions.
    """
    claimed = _claim(limit)
    begun = _prepare(claimed)
    if not begun:
        return UsageReportRunResult(len(claimed), 0)
    with ThreadPoolExecutor(len(begun)) as threads:
        responses = list(threads.map(processor.send_meter_event, [meter_event for _, meter_event in begun]))
    for (row, _), response in zip(begun, responses, strict=True):
        _record(row, response)
    outcomes = [response.outcome for response in responses]
    taken = {
        row.workspace_id for (row, _), outcome in zip(begun, outcomes, strict=True) if outcome is UsageReportOutcome.RECORDED
    }
    for kind in (AlarmKind.USAGE_WAITS, AlarmKind.USAGE_REFUSED):
        resolve_alarms_about(kind, taken)
    return UsageReportRunResult(
        len(claimed), sum(outcome in (UsageReportOutcome.UNKNOWN, UsageReportOutcome.NOT_SERVED) for outcome in outcomes)
    )


def _claim(limit: int) -> list[UsageReport]:
    """Claim due usage reports for this worker, first those that may already have reached the payment processor.

    The processor recognizes a repeated report only for a while, so these must soon be sent again.
    """
    first = claim_due(UsageReport.objects.filter(unknown_since__isnull=False), limit=limit, lease=REPORT_LEASE)
    fresh = UsageReport.objects.filter(unknown_since=None)
    return first + claim_due(fresh, limit=limit - len(first), lease=REPORT_LEASE)


def _prepare(claimed: Sequence[UsageReport]) -> list[tuple[UsageReport, MeterEvent]]:
    """Return the usage reports to send now, after marking their outcome as unknown in case the process dies while sending.

    Reports that are too old are given up; reports that no subscription pays for are postponed.
    """
    now = timezone.now()
    workspace_ids = {row.workspace_id for row in claimed}
    customers = customer_id_by_workspace_id(workspace_ids)
    subscriptions = Subscription.objects.filter(pk__in=workspace_ids)
    paying = {each.pk for each in subscriptions if each.pays_for_usage_at(now) and customers.get(each.pk)}
    begun, waiting = [], []
    for row in claimed:
        if reason := _too_late(row, now):
            _give_up(row, reason)
        elif row.workspace_id not in paying:
            waiting.append(row)
        elif meter_event := _begin_attempt(row, customers[row.workspace_id], now):
            begun.append((row, meter_event))
    for workspace_id in sorted({row.workspace_id for row in waiting}):
        _wait_for_subscription(workspace_id, now)
    release_claims(waiting)
    return begun


def _too_late(row: UsageReport, now: datetime) -> str | None:
    if row.unknown_since and now - row.unknown_since > RESEND_WITHIN:
        return f"it is unknown whether the processor has it ({row.cents} cents; {row.last_error or 'no answer'})"
    if now - row.settled_at > MAX_REPORT_AGE:
        return f"{row.cents} cents were settled too long ago for the processor to take them"
    return None


def _give_up(row: UsageReport, reason: str) -> None:
    """Stop sending a usage report to the payment processor and raise a billing alarm."""
    rows = claimed_row_queryset(UsageReport.objects.all(), row)
    if rows.update(status=ReportStatus.UNRESOLVED, due_at=None, lease_until=None):
        open_or_update_alarm(
            AlarmKind.USAGE_UNRESOLVED, row.pk, f"Usage of {row.workspace_id} is no longer reported: {reason}."
        )


def _begin_attempt(row: UsageReport, customer_id: str, now: datetime) -> MeterEvent | None:
    attempt = {"attempts": F("attempts") + 1, "unknown_since": Coalesce("unknown_since", now), "customer_id": customer_id}
    if not claimed_row_queryset(UsageReport.objects.all(), row).update(**attempt):
        return None
    row.attempts += 1
    return MeterEvent(row.pk, customer_id, row.cents, row.settled_at, row.attempts)


def _wait_for_subscription(workspace_id: str, now: datetime) -> None:
    """Postpone a workspace's usage reports because no subscription pays for the usage, and raise a billing alarm."""
    rows = UsageReport.objects.filter(workspace_id=workspace_id, status=ReportStatus.PENDING)
    if rows.update(due_at=now + WAIT_FOR_SUBSCRIPTION):
        waiting = rows.aggregate(cents=Sum("cents", default=0))["cents"]
        detail = f"{waiting} cents beyond the free credit cannot be reported: no subscription pays for them."
        open_or_update_alarm(AlarmKind.USAGE_WAITS, workspace_id, detail)


def _record(row: UsageReport, response: UsageReportResponse) -> None:
    """Save the result of sending a usage report to the payment processor.

    `row.unknown_since` has the value from before the attempt.
    """
    now = timezone.now()
    again = now + timedelta(seconds=REPORT_RETRY_SECONDS[min(row.attempts, len(REPORT_RETRY_SECONDS)) - 1])
    outcome: dict[str, Any] = {"due_at": again, "last_error": response.fault}
    if response.outcome is UsageReportOutcome.RECORDED:
        outcome = {"status": ReportStatus.SENT, "sent_at": now, "due_at": None}
    elif response.outcome is not UsageReportOutcome.UNKNOWN:
        outcome["unknown_since"] = row.unknown_since
    claimed_row_queryset(UsageReport.objects.all(), row).update(lease_until=None, **outcome)
    if response.outcome is UsageReportOutcome.REFUSED:
        open_or_update_alarm(AlarmKind.USAGE_REFUSED, row.workspace_id, f"Usage report {row.pk}: {response.fault}")
