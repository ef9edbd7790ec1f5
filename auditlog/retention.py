"""How long audit entries are kept: by the tier that each was written under."""

from __future__ import annotations

from datetime import timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from auditlog.models import AuditEntry, RetentionTier
from config.db.retention import ExpiredRows

DAYS = {
    RetentionTier.FREE: 30,
    RetentionTier.PRO: 90,
    RetentionTier.SCALE: 365,
    RetentionTier.ENTERPRISE: 2555,
}


class AuditEntries(ExpiredRows):
    name = "audit_entries"

    def rows(self) -> QuerySet[AuditEntry]:
        return AuditEntry.objects.filter(reduce(or_, (Q(**over) for over in _over())))

    def ready(self) -> QuerySet[AuditEntry]:
        """Those of one tier, the oldest first: as the index has them."""
        tiers = (AuditEntry.objects.filter(**over).order_by("created_at") for over in _over())
        return next((rows for rows in tiers if rows.exists()), AuditEntry.objects.none())


def _over() -> list[dict[str, Any]]:
    """The condition of each tier under which an entry's time is over."""
    now = timezone.now()
    return [{"retention_tier": tier, "created_at__lt": now - timedelta(days=days)} for tier, days in DAYS.items()]
