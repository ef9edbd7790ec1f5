"""Database queries that read entries of the audit log."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import QuerySet

from auditlog.models import AuditEntry
from config.api.caller import Caller, require_access
from config.db.ids import lowest_id_at

ID_TIME_TOLERANCE = timedelta(minutes=1)  # maximum difference between the time in an entry's id and its created_at


def audit_entries_of_workspace(
    *, caller: Caller, workspace_id: str, since: datetime | None = None, before: datetime | None = None, **filters: str
) -> QuerySet[AuditEntry]:
    """Query a workspace's audit log entries, newest first, optionally between the times `since` and `before`.

    `filters` are actor_type, actor_id, operation, outcome and retention_tier; all must match. Raises ScopeMissing, NotFound.
    """
    require_access(caller, workspace_id, "logs.read", write=False)
    rows = AuditEntry.objects.filter(workspace_id=workspace_id, **filters).order_by("-pk")
    # The indexes are ordered by id, and ids sort by time: bounds on the id make the query of one day fast.
    if since:
        rows = rows.filter(created_at__gte=since, pk__gte=lowest_id_at("log", since - ID_TIME_TOLERANCE))
    if before:
        rows = rows.filter(created_at__lt=before, pk__lt=lowest_id_at("log", before + ID_TIME_TOLERANCE))
    return rows
