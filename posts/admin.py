"""Post groups and targets in the operators' console."""

from __future__ import annotations

from django.contrib import admin

from config.api.admin import ReadOnlyAdmin
from posts.models import PostGroup, PostTarget


class PostTargetInline(admin.TabularInline):
    model = PostTarget
    extra = 0
    can_delete = False
    fields = ("id", "platform", "account", "status", "attempts", "due_at", "permalink", "error")
    readonly_fields = fields


@admin.register(PostGroup)
class PostGroupAdmin(ReadOnlyAdmin):
    list_display = ("id", "workspace", "status", "scheduled_at", "sandbox", "created_at", "finished_at")
    list_filter = ("status", "sandbox")
    list_select_related = ("workspace",)
    search_fields = ("=id", "=trace_id", "=workspace__id")
    inlines = (PostTargetInline,)


@admin.register(PostTarget)
class PostTargetAdmin(ReadOnlyAdmin):
    list_display = ("id", "group", "platform", "status", "attempts", "due_at", "lease_until", "fence")
    list_filter = ("status", "platform")
    search_fields = ("=id", "=group__id", "=account__id", "=external_id")
