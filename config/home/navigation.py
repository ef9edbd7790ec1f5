"""The home's entry in the navigation."""

from __future__ import annotations

from config.pages.navigation import Entry

HOME = Entry("home", "Home")
