"""The link to billing's usage page in the dashboard's navigation."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from config.pages.navigation import DashboardPage

USAGE = DashboardPage("usage", _("Usage"), "chart-bar", _("Workspace"))
