"""Navigation entries of the dashboard pages of the audit log and the workspace settings."""

from __future__ import annotations

from config.pages.navigation import Entry

AUDIT_LOG = Entry("audit-log", "Audit log")
SETTINGS = Entry("settings", "Settings", also_for=("members",))
