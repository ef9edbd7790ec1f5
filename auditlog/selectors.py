"""Reads of audit entries."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import QuerySet

from auditlog.models import AuditEntry
from config.api.caller import Caller, require
from config.db.ids import first_id

SLACK = timedelta(minutes=1)  # between the time in an entry's id and its created_at, and plenty


def entries_of(
    *, caller: Caller, workspace_id: str, since: datetime | None = None, before: datetime | None = None, **filters: str
) -> QuerySet[AuditEntry]:
    """The workspace's entries, newest first, made at `since` or later and earlier than `before`.

    `filters` are actor_type, actor_id, operation, outcome, retention_tier, and all must fit. Raises ScopeMissing, NotFound.
    """
    require(caller, workspace_id, "logs.read", write=False)
    rows = AuditEntry.objects.filter(workspace_id=workspace_id, **filters).order_by("-pk")
    # The indexes are in the order of ids, which sort by time: the bounds on the id keep a look at a day short.
    if since:
        rows = rows.filter(created_at__gte=since, pk__gte=first_id("log", since - SLACK))
    if before:
        rows = rows.filter(created_at__lt=before, pk__lt=first_id("log", before + SLACK))
    return rows
