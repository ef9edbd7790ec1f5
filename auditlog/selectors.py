"""Reads of audit entries."""

from __future__ import annotations

from django.db.models import QuerySet

from auditlog.models import AuditEntry
from config.api.caller import Caller, require


def entries_of(*, caller: Caller, workspace_id: str, **filters: str) -> QuerySet[AuditEntry]:
    """The workspace's entries, newest first; `filters` are actor_type, actor_id, retention_tier, and all must fit.

    Raises ScopeMissing, NotFound.
    """
    require(caller, workspace_id, "logs.read", write=False)
    return AuditEntry.objects.filter(workspace_id=workspace_id, **filters).order_by("-pk")
