"""The links to the audit log page and the workspace settings page in the dashboard's navigation."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from config.pages.navigation import DashboardPage

AUDIT_LOG = DashboardPage("audit-log", _("Audit log"), "clipboard-document-list", _("Workspace"))
SETTINGS = DashboardPage("settings", _("Settings"), "cog-6-tooth", _("Workspace"), also_for=("members", "snippets"))
