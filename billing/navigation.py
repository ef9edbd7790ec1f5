"""The link to billing's usage page in the dashboard's navigation."""

from __future__ import annotations

from config.pages.navigation import DashboardPage

USAGE = DashboardPage("usage", "Usage", "chart-bar", "Workspace")
