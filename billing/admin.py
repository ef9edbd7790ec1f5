"""The operators' view of the books: read only, since money moves through services alone."""

from __future__ import annotations

from django.contrib import admin

from billing.models import DayCounter, LedgerEntry, MonthCounter, ProcessorEvent, UsageTotal
from config.api.admin import ReadOnlyAdmin


@admin.register(LedgerEntry)
class LedgerEntryAdmin(ReadOnlyAdmin):
    list_display = ("id", "kind", "cents", "platform", "target_id", "round", "workspace_id", "agent_id", "month")
    list_filter = ("kind",)
    ordering = ("-id",)
    search_fields = ("=id", "=target_id", "=workspace_id", "=agent_id")


@admin.register(MonthCounter)
class MonthCounterAdmin(ReadOnlyAdmin):
    list_display = ("holder_id", "month", "held_cents", "settled_cents", "url_posts")
    ordering = ("-month", "holder_id")
    search_fields = ("=holder_id",)


@admin.register(DayCounter)
class DayCounterAdmin(ReadOnlyAdmin):
    list_display = ("agent_id", "day", "targets")
    ordering = ("-day", "agent_id")
    search_fields = ("=agent_id",)


@admin.register(UsageTotal)
class UsageTotalAdmin(ReadOnlyAdmin):
    list_display = ("workspace_id", "agent_id", "month", "platform", "published", "failed", "url_posts", "spend_cents")
    ordering = ("-month", "workspace_id")
    search_fields = ("=workspace_id", "=agent_id")


@admin.register(ProcessorEvent)
class ProcessorEventAdmin(ReadOnlyAdmin):
    list_display = ("event_id", "type", "received_at", "processed_at")
    ordering = ("-received_at",)
    search_fields = ("=event_id", "=type")
    exclude = ("payload",)  # it may name people
