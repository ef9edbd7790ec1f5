"""The links to the audit log page and the workspace settings page in the dashboard's navigation."""

from __future__ import annotations

from config.pages.navigation import PageEntry

AUDIT_LOG = PageEntry("audit-log", "Audit log")
SETTINGS = PageEntry("settings", "Settings", also_for=("members",))
