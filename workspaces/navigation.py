"""The links to the audit log page and the workspace settings page in the dashboard's navigation."""

from __future__ import annotations

from config.pages.navigation import DashboardPage

AUDIT_LOG = DashboardPage("audit-log", "Audit log")
SETTINGS = DashboardPage("settings", "Settings", also_for=("members",))
