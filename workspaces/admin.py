"""Users, workspaces and members in the operators' console."""

from __future__ import annotations

from django.contrib import admin

from config.api.admin import ReadOnlyAdmin
from workspaces.models import Member, User, Workspace


@admin.register(User)
class UserAdmin(ReadOnlyAdmin):
    list_display = ("id", "username", "email", "display_name", "is_staff", "is_active", "created_at")
    search_fields = ("=id", "=email", "=username")
    exclude = ("password",)


@admin.register(Workspace)
class WorkspaceAdmin(ReadOnlyAdmin):
    list_display = ("id", "name", "slug", "owner_user", "status", "monthly_spend_cap_cents", "created_at")
    list_filter = ("status",)
    list_select_related = ("owner_user",)
    search_fields = ("=id", "slug", "name")


@admin.register(Member)
class MemberAdmin(ReadOnlyAdmin):
    list_display = ("workspace", "user", "role", "created_at")
    list_select_related = ("workspace", "user")
    search_fields = ("=workspace__id", "=user__id")
