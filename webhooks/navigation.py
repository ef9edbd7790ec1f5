"""Navigation entries of the dashboard's webhook pages."""

from __future__ import annotations

from config.pages.navigation import DashboardPage

WEBHOOKS = DashboardPage("webhooks", "Webhooks", "bolt", "Connections")
DELIVERY = DashboardPage("delivery")
