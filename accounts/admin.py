"""Connected accounts in the operators' console; their secrets are not shown."""

from __future__ import annotations

from django.contrib import admin

from accounts.models import ConnectedAccount
from config.api.admin import ReadOnlyAdmin


@admin.register(ConnectedAccount)
class ConnectedAccountAdmin(ReadOnlyAdmin):
    list_display = ("id", "platform", "handle", "workspace", "sandbox", "status", "last_checked_at")
    list_filter = ("platform", "status", "sandbox")
    list_select_related = ("workspace",)
    search_fields = ("=id", "handle", "=workspace__id")
    exclude = ("credentials", "tokens")
