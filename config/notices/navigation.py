"""The dashboard's navigation entry for the page of e-mail notices."""

from __future__ import annotations

from config.pages.navigation import DashboardPage

NOTICES = DashboardPage("notices")
NOTICE_CHANNELS = DashboardPage("notice-channels")
