"""The value of settings.NAVIGATION: the dotted paths of all dashboard pages, first those in the menu."""

from __future__ import annotations

PAGES = (
    "config.home.navigation.HOME",
    "posts.navigation.CALENDAR",
    "posts.navigation.NEW_POST",
    "posts.navigation.APPROVALS",
    "posts.navigation.SERIES",
    "media.navigation.MEDIA",
    "accounts.navigation.ACCOUNTS",
    "config.home.navigation.AGENTS",
    "agents.navigation.API_KEYS",
    "webhooks.navigation.WEBHOOKS",
    "billing.navigation.USAGE",
    "workspaces.navigation.AUDIT_LOG",
    "workspaces.navigation.SETTINGS",
    "config.home.navigation.AGENT",
    "config.home.navigation.WEBHOOK_TEST",
    "config.notices.navigation.NOTICES",
    "config.notices.navigation.NOTICE_CHANNELS",
    "posts.navigation.POSTS",
    "posts.navigation.POST",
    "posts.navigation.ACCOUNT_QUEUE",
    "webhooks.navigation.DELIVERY",
)
