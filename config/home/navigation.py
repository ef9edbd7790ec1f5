"""The dashboard's navigation entries for the home page, the agents' pages and the webhook test."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from config.pages.navigation import DashboardPage

HOME = DashboardPage("home", _("Home"), "home", in_bottom_bar=True)
AGENTS = DashboardPage("agents", _("Agents"), "cpu-chip", _("Connections"))
AGENT = DashboardPage("agent")
WEBHOOK_TEST = DashboardPage("webhook-test")
