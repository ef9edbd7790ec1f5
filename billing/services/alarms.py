"""Raise and resolve billing alarms, which operators see in the log and in the table of billing alarms."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from django.utils import timezone

from billing.models import BillingAlarm

AlarmKind = BillingAlarm.Kind
logger = logging.getLogger(__name__)


def open_or_update_alarm(kind: BillingAlarm.Kind, subject: str, detail: str) -> None:
    """Open a billing alarm and log it; if one is open already, update it. `detail` contains no personal data."""
    logger.error("Billing alarm %s %s: %s", kind, subject, detail)
    now = timezone.now()
    seen = BillingAlarm(kind=kind, subject=subject, detail=detail[:500], first_seen_at=now, last_seen_at=now)
    rows = BillingAlarm.objects.filter(kind=kind, subject=subject, resolved_at=None)
    if not rows.update(detail=seen.detail, last_seen_at=now):
        BillingAlarm.objects.bulk_create([seen], ignore_conflicts=True)


def resolve_alarms_about(kind: BillingAlarm.Kind, subjects: Iterable[str]) -> None:
    """Mark the open billing alarms of one kind about the given subjects (such as workspace ids) as resolved."""
    rows = BillingAlarm.objects.filter(kind=kind, subject__in=list(subjects), resolved_at=None)
    if resolved := list(rows):
        rows.update(resolved_at=timezone.now())
    for alarm in resolved:
        logger.info("Billing alarm %s %s is resolved.", kind, alarm.subject)


def resolve_alarms_of_kind_except(kind: BillingAlarm.Kind, still_open: Iterable[str]) -> None:
    """Mark the open billing alarms of one kind as resolved, except alarms about the subjects in `still_open`."""
    rows = BillingAlarm.objects.filter(kind=kind, resolved_at=None).exclude(subject__in=list(still_open))
    resolve_alarms_about(kind, list(rows.values_list("subject", flat=True)))
