"""The pages of the dashboard's navigation, in order, by dotted path (settings name this NAVIGATION)."""

from __future__ import annotations

PAGES = (
    "config.home.navigation.HOME",
    "posts.navigation.CALENDAR",
    "posts.navigation.NEW_POST",
    "posts.navigation.APPROVALS",
    "accounts.navigation.ACCOUNTS",
    "media.navigation.MEDIA",
    "agents.navigation.AGENTS",
    "agents.navigation.API_KEYS",
    "webhooks.navigation.WEBHOOKS",
    "billing.navigation.USAGE",
    "workspaces.navigation.AUDIT_LOG",
    "workspaces.navigation.SETTINGS",
)
