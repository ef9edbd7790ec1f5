"""Telling operators of what is not as it must be: in the log each time it is seen, and in a row until it is over."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from django.utils import timezone

from billing.models import BillingAlarm

Kind = BillingAlarm.Kind
logger = logging.getLogger(__name__)


def raise_alarm(kind: BillingAlarm.Kind, subject: str, detail: str) -> None:
    """Log it, and keep it open; `detail` holds ids and figures, no text of people."""
    logger.error("Billing alarm %s %s: %s", kind, subject, detail)
    now = timezone.now()
    seen = BillingAlarm(kind=kind, subject=subject, detail=detail[:500], first_seen_at=now, last_seen_at=now)
    rows = BillingAlarm.objects.filter(kind=kind, subject=subject, resolved_at=None)
    if not rows.update(detail=seen.detail, last_seen_at=now):
        BillingAlarm.objects.bulk_create([seen], ignore_conflicts=True)


def resolve_alarms(kind: BillingAlarm.Kind, subjects: Iterable[str]) -> None:
    """What it was about is well again; nothing happens where nothing was open."""
    rows = BillingAlarm.objects.filter(kind=kind, subject__in=list(subjects), resolved_at=None)
    if over := list(rows):
        rows.update(resolved_at=timezone.now())
    for alarm in over:
        logger.info("Billing alarm %s %s is over.", kind, alarm.subject)


def resolve_others(kind: BillingAlarm.Kind, still_open: Iterable[str]) -> None:
    """Of this kind, only these subjects are still not as they must be."""
    rows = BillingAlarm.objects.filter(kind=kind, resolved_at=None).exclude(subject__in=list(still_open))
    resolve_alarms(kind, list(rows.values_list("subject", flat=True)))
