"""The registered page of notices."""

from __future__ import annotations

from config.pages.navigation import Entry

NOTICES = Entry("notices")
