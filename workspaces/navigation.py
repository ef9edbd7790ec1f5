"""The links to the audit log page and the workspace settings page in the dashboard's navigation."""

from __future__ import annotations

from config.pages.navigation import Entry

AUDIT_LOG = Entry("audit-log", "Audit log")
SETTINGS = Entry("settings", "Settings", also_for=("members",))
