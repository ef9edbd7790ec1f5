"""The link to the API keys page in the dashboard's navigation."""

from __future__ import annotations

from config.pages.navigation import DashboardPage

API_KEYS = DashboardPage("api-keys", "API keys", "key", "Connections")
