"""Navigation entries of the dashboard's webhook pages."""

from __future__ import annotations

from config.pages.navigation import PageEntry

WEBHOOKS = PageEntry("webhooks", "Webhooks")
DELIVERY = PageEntry("delivery")
