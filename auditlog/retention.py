"""The retention rule of the audit log: an entry is deleted after the days of its retention tier, such as free or pro."""

from __future__ import annotations

from datetime import timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from auditlog.models import AuditEntry, RetentionTier
from config.db.retention import ExpiredRowsRule

RETENTION_DAYS = {RetentionTier.FREE: 30, RetentionTier.PRO: 90, RetentionTier.SCALE: 365, RetentionTier.ENTERPRISE: 2555}


class ExpiredAuditEntriesRule(ExpiredRowsRule):
    name = "audit_entries"

    def expired_rows(self) -> QuerySet[AuditEntry]:
        return AuditEntry.objects.filter(reduce(or_, (Q(**condition) for condition in _expired_conditions())))

    def next_rows_to_delete(self) -> QuerySet[AuditEntry]:
        """Return the expired audit entries of the first retention tier that has any, oldest first.

        This is the order of the index.
        """
        tiers = (AuditEntry.objects.filter(**condition).order_by("created_at") for condition in _expired_conditions())
        return next((rows for rows in tiers if rows.exists()), AuditEntry.objects.none())


def _expired_conditions() -> list[dict[str, Any]]:
    """Return, for each retention tier, the `filter()` arguments that match the tier's expired audit entries."""
    now = timezone.now()
    return [{"retention_tier": tier, "created_at__lt": now - timedelta(days=days)} for tier, days in RETENTION_DAYS.items()]
