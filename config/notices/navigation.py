"""Navigation entry of the dashboard page of e-mail notices."""

from __future__ import annotations

from config.pages.navigation import Entry

NOTICES = Entry("notices")
