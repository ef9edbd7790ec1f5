"""The registered pages of webhooks."""

from __future__ import annotations

from config.pages.navigation import Entry

WEBHOOKS = Entry("webhooks", "Webhooks")
DELIVERY = Entry("delivery")
