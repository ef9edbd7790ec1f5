"""Operators read the audit log; nobody edits it."""

from __future__ import annotations

from django.contrib import admin

from auditlog.models import AuditEntry
from config.api.admin import ReadOnlyAdmin


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ("id", "created_at", "workspace_id", "actor_type", "actor_id", "operation", "outcome", "code")
    list_filter = ("outcome", "actor_type", "operation")
    search_fields = ("=id", "=workspace_id", "=actor_id", "=resource_id", "=trace_id")
