"""What the operators' console has in common: rows are read, changes go through services."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from config.api.models import IdempotencyRecord


class ReadOnlyAdmin(admin.ModelAdmin):
    """A table to look at; large ones are listed without COUNT(*)."""

    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(IdempotencyRecord)
class IdempotencyRecordAdmin(ReadOnlyAdmin):
    list_display = ("id", "operation", "status", "resource_id", "created_at", "expires_at")
    search_fields = ("=id", "=resource_id")
    exclude = ("body",)
