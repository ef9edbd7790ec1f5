"""The read-only Django admin table of audit log entries, in the operators' console."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Q

from auditlog.models import AuditEntry
from config.pages.admin import ReadOnlyAdmin
from config.pages.admin_search import TRACE

RESOURCE_PREFIXES = ("acc", "agt", "con", "dlv", "key", "med", "pgr", "usr")


def _actor_or_resource(word: str) -> Q:
    return Q(actor_id=word) | Q(resource_id=word)


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = (
        "created_at",
        "operation",
        "actor_type",
        "actor_id",
        "via",
        "workspace_id",
        "resource_id",
        "outcome",
        "code",
        "dry_run",
    )
    list_filter = ("outcome",)
    indexed_lookups = {"wrk": "workspace_id", TRACE: "trace_id"}
    unindexed_lookups = dict.fromkeys(RESOURCE_PREFIXES, _actor_or_resource)
