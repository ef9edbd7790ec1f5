"""The dashboard's navigation entries for the pages of e-mail notices and of notice channels."""

from __future__ import annotations

from config.pages.navigation import DashboardPage

NOTICES = DashboardPage("notices")
NOTICE_CHANNELS = DashboardPage("notice-channels")
