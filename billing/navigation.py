"""The registered page of the usage."""

from __future__ import annotations

from config.pages.navigation import Entry

USAGE = Entry("usage", "Usage")
