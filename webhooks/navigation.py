"""The webhooks' entry in the navigation."""

from __future__ import annotations

from config.pages.navigation import Entry

WEBHOOKS = Entry("webhooks", "Webhooks")
