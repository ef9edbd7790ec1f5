"""Navigation entries of the dashboard's webhook pages."""

from __future__ import annotations

from config.pages.navigation import Entry

WEBHOOKS = Entry("webhooks", "Webhooks")
DELIVERY = Entry("delivery")
