"""The dashboard's navigation entries for the home page, the agents' pages and the webhook test."""

from __future__ import annotations

from config.pages.navigation import DashboardPage

HOME = DashboardPage("home", "Home", "home", in_bottom_bar=True)
AGENTS = DashboardPage("agents", "Agents", "cpu-chip", "Connections")
AGENT = DashboardPage("agent")
WEBHOOK_TEST = DashboardPage("webhook-test")
