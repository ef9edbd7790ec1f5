"""The retention rule for idempotency records, which deletes them after 24 hours."""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils import timezone

from config.api.models import IdempotencyRecord
from config.db.retention import ExpiredRowsRule


class ExpiredIdempotencyRecordsRule(ExpiredRowsRule):
    name = "idempotency_records"

    def expired_rows(self) -> QuerySet[IdempotencyRecord]:
        return IdempotencyRecord.objects.filter(expires_at__lte=timezone.now()).order_by("expires_at")
