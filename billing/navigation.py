"""Navigation entry of the usage page."""

from __future__ import annotations

from config.pages.navigation import Entry

USAGE = Entry("usage", "Usage")
