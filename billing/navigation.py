"""The usage's entry in the navigation."""

from __future__ import annotations

from config.pages.navigation import Entry

USAGE = Entry("usage", "Usage")
