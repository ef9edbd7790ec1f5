"""Events and deliveries in the operators' console; of signing secrets only that they are there."""

from __future__ import annotations

from django.contrib import admin

from config.api.admin import ReadOnlyAdmin
from webhooks.models import Delivery, Event, SigningSecret


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    list_display = (
        "id",
        "event",
        "workspace",
        "host",
        "status",
        "attempts",
        "last_status_code",
        "due_at",
        "created_at",
    )
    list_filter = ("status",)
    list_select_related = ("event", "workspace")
    search_fields = ("=id", "=event__post_group_id", "=workspace__id", "=host")
    fields = (
        "id",
        "event",
        "workspace",
        "url",
        "status",
        "attempts",
        "earlier_attempts",
        "last_status_code",
        "last_error",
        "last_response_excerpt",
        "due_at",
        "lease_until",
        "fence",
        "created_at",
        "delivered_at",
    )


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    list_display = ("id", "kind", "post_group_id", "sequence", "workspace", "sandbox", "created_at")
    list_filter = ("kind", "sandbox")
    list_select_related = ("workspace",)
    search_fields = ("=id", "=post_group_id", "=workspace__id", "=trace_id")


@admin.register(SigningSecret)
class SigningSecretAdmin(ReadOnlyAdmin):
    list_display = ("workspace", "previous_until", "created_at", "updated_at")
    list_select_related = ("workspace",)
    search_fields = ("=workspace__id",)
    fields = ("workspace", "previous_until", "created_at", "updated_at")
