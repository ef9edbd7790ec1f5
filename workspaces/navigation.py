"""The links to the audit log page and the workspace settings page in the dashboard's navigation."""

from __future__ import annotations

from config.pages.navigation import DashboardPage

AUDIT_LOG = DashboardPage("audit-log", "Audit log", "clipboard-document-list", "Workspace")
SETTINGS = DashboardPage("settings", "Settings", "cog-6-tooth", "Workspace", also_for=("members",))
