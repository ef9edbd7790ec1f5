"""Agents and keys in the operators' console; tokens are never there to be shown."""

from __future__ import annotations

from django.contrib import admin

from agents.models import Agent, ApiKey
from config.api.admin import ReadOnlyAdmin


@admin.register(Agent)
class AgentAdmin(ReadOnlyAdmin):
    list_display = ("id", "name", "workspace", "default_mode", "status", "created_at")
    list_filter = ("status", "default_mode")
    list_select_related = ("workspace",)
    search_fields = ("=id", "=workspace__id", "name")


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnlyAdmin):
    list_display = ("id", "prefix", "name", "workspace", "agent", "status", "last_used_at", "created_at")
    list_select_related = ("workspace", "agent")
    search_fields = ("=id", "=prefix", "=workspace__id", "=agent__id")
    exclude = ("token_sha256",)
