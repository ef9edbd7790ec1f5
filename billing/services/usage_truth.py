"""Comparing the usage that was reported with what the payment processor has of it. Nothing is ever sent from here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet, Sum
from django.utils import timezone

from billing import processor
from billing.models import UsageReport
from billing.services.alarms import Kind, raise_alarm, resolve_alarms

# The processor takes no usage for days before these, so nothing there changes any more.
DAYS = 35
# It adds up with a delay: who was reported to so lately is looked at the next time.
ADDED_UP_AFTER = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
Status = UsageReport.Status


def reconcile_usage(say: Callable[[str], None] = lambda line: None) -> int:
    """Settle the reports of unknown outcome by what the processor has, then compare each customer's sum.

    Returns how many customers' sums differ; each is an alarm until it is right. Raises BillingUnavailable.
    """
    end = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    start = end - timedelta(days=DAYS)
    window = UsageReport.objects.filter(settled_at__gte=start, settled_at__lt=end).exclude(customer_id="")
    customers = sorted(set(window.values_list("customer_id", flat=True)))
    if not customers:
        return 0
    meter_id = processor.find_meter()
    if meter_id is None:
        raise_alarm(Kind.USAGE_SUM, "", "The processor has no active meter of the name in STRIPE_METER_EVENT.")
        return len(customers)
    _settle_unresolved(meter_id, start, say)
    busy = _busy(customers)
    looked_at = [customer_id for customer_id in customers if customer_id not in busy]
    different = [customer_id for customer_id in looked_at if _differs(meter_id, customer_id, start, end)]
    resolve_alarms(Kind.USAGE_SUM, {"", *looked_at} - {*different})
    say(
        f"Usage: {len(customers)} customers, {len(different)} with another sum at the processor, {len(busy)} not looked at."
    )
    return len(different)


def _settle_unresolved(meter_id: str, start: datetime, say: Callable[[str], None]) -> None:
    """What stands at the processor in a report's own minute tells whether it arrived."""
    unresolved = UsageReport.objects.filter(status=Status.UNRESOLVED, settled_at__gte=start).exclude(customer_id="")
    for row in unresolved.order_by("settled_at"):
        minute = row.settled_at.replace(second=0, microsecond=0)
        near = UsageReport.objects.filter(
            customer_id=row.customer_id, settled_at__gte=minute, settled_at__lt=minute + MINUTE
        )
        sent = _cents(near.filter(status=Status.SENT))
        recorded = processor.recorded_cents(meter_id, row.customer_id, minute, minute + MINUTE)
        if recorded == sent:
            raise_alarm(Kind.USAGE_UNRESOLVED, row.pk, f"The processor does not have these {row.cents} cents.")
        elif recorded == sent + _cents(near.filter(status=Status.UNRESOLVED)):
            UsageReport.objects.filter(pk=row.pk).update(status=Status.SENT, sent_at=row.unknown_since)
            resolve_alarms(Kind.USAGE_UNRESOLVED, [row.pk])
            say(f"{row.pk} had arrived.")
        else:
            detail = (
                f"The processor has {recorded:g} cents of the minute of this report of {row.cents}; {sent} are known."
            )
            raise_alarm(Kind.USAGE_UNRESOLVED, row.pk, detail)


def _busy(customers: Iterable[str]) -> set[str]:
    """Those with a report that is on its way, or that the processor may not have added up yet."""
    lately = Q(status=Status.PENDING) | Q(sent_at__gt=timezone.now() - ADDED_UP_AFTER)
    return set(UsageReport.objects.filter(lately, customer_id__in=customers).values_list("customer_id", flat=True))


def _differs(meter_id: str, customer_id: str, start: datetime, end: datetime) -> bool:
    reported = _cents(
        UsageReport.objects.filter(
            status=Status.SENT, customer_id=customer_id, settled_at__gte=start, settled_at__lt=end
        )
    )
    recorded = processor.recorded_cents(meter_id, customer_id, start, end)
    if recorded == reported:
        return False
    detail = f"Since {start:%Y-%m-%d} the processor has {recorded:g} cents of usage, {reported} were reported."
    raise_alarm(Kind.USAGE_SUM, customer_id, detail)
    return True


def _cents(rows: QuerySet[UsageReport]) -> int:
    return int(rows.aggregate(cents=Sum("cents", default=0))["cents"])
