"""Compares the usage that was reported to the payment processor with the processor's own sums. It sends no reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from billing import processor
from billing.models import UsageReport
from billing.services.alarms import AlarmKind, open_or_update_alarm, resolve_alarms_about

# The processor accepts no usage for earlier days, so older sums cannot change.
COMPARED_DAYS = 35
# The processor's sums are delayed; customers with newer reports are compared the next time.
SUMMARY_DELAY = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
ReportStatus = UsageReport.Status


def resolve_and_compare_usage_reports(progress: Callable[[str], None] = lambda line: None) -> int:
    """Find out whether unanswered usage reports arrived, then compare 35 days of usage with the payment processor's sums.

    Returns how many customers differ. Customers with unsent or very recent reports are left out. Each difference raises an
    alarm. If the processor has no active meter, all customers count as different. Raises BillingUnavailable.
    """
    end = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    start = end - timedelta(days=COMPARED_DAYS)
    window = UsageReport.objects.filter(settled_at__gte=start, settled_at__lt=end).exclude(customer_id="")
    customers = sorted(set(window.values_list("customer_id", flat=True)))
    if not customers:
        return 0
    meter_id = processor.fetch_active_meter_id_or_none()
    if meter_id is None:
        open_or_update_alarm(AlarmKind.USAGE_SUM, "", "The processor has no active meter for STRIPE_METER_EVENT.")
        return len(customers)
    _settle_unresolved(meter_id, start, progress)
    pending = _still_pending(customers)
    compared = [customer_id for customer_id in customers if customer_id not in pending]
    different = [customer_id for customer_id in compared if _differs(meter_id, customer_id, start, end)]
    resolve_alarms_about(AlarmKind.USAGE_SUM, {"", *compared} - {*different})
    progress(
        f"Usage: {len(customers)} customers, {len(different)} with another sum at the processor, {len(pending)} not compared."
    )
    return len(different)


def _settle_unresolved(meter_id: str, start: datetime, progress: Callable[[str], None]) -> None:
    """Find out from the payment processor's sums, minute by minute, which unanswered usage reports it has received."""
    unresolved = UsageReport.objects.filter(status=ReportStatus.UNRESOLVED, settled_at__gte=start).exclude(customer_id="")
    for row in unresolved.order_by("settled_at"):
        minute = row.settled_at.replace(second=0, microsecond=0)
        near = UsageReport.objects.filter(customer_id=row.customer_id, settled_at__gte=minute, settled_at__lt=minute + MINUTE)
        sent = _cents(near.filter(status=ReportStatus.SENT))
        recorded = processor.fetch_recorded_usage_cents(meter_id, row.customer_id, minute, minute + MINUTE)
        if recorded == sent:
            open_or_update_alarm(
                AlarmKind.USAGE_UNRESOLVED, row.pk, f"The processor has not recorded these {row.cents} cents."
            )
        elif recorded == sent + _cents(near.filter(status=ReportStatus.UNRESOLVED)):
            UsageReport.objects.filter(pk=row.pk).update(status=ReportStatus.SENT, sent_at=row.unknown_since)
            resolve_alarms_about(AlarmKind.USAGE_UNRESOLVED, [row.pk])
            progress(f"{row.pk} had arrived.")
        else:
            detail = f"The processor recorded {recorded:g} cents in that minute; {sent} are sent and {row.cents} unknown."
            open_or_update_alarm(AlarmKind.USAGE_UNRESOLVED, row.pk, detail)


def _still_pending(customers: Iterable[str]) -> set[str]:
    """Return the ids of customers whose usage cannot be compared yet: a report is unsent or newer than SUMMARY_DELAY."""
    lately = Q(status=ReportStatus.PENDING) | Q(sent_at__gt=timezone.now() - SUMMARY_DELAY)
    return set(UsageReport.objects.filter(lately, customer_id__in=customers).values_list("customer_id", flat=True))


def _differs(meter_id: str, customer_id: str, start: datetime, end: datetime) -> bool:
    reported = _cents(
        UsageReport.objects.filter(
            status=ReportStatus.SENT, customer_id=customer_id, settled_at__gte=start, settled_at__lt=end
        )
    )
    recorded = processor.fetch_recorded_usage_cents(meter_id, customer_id, start, end)
    if recorded == reported:
        return False
    detail = f"Since {start:%Y-%m-%d} the processor has {recorded:g} cents of usage, {reported} were reported."
    open_or_update_alarm(AlarmKind.USAGE_SUM, customer_id, detail)
    return True


def _cents(rows: QuerySet[UsageReport]) -> int:
    return int(rows.aggregate(cents=Sum("cents", default=0))["cents"])
