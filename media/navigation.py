"""The media library's entry in the navigation."""

from __future__ import annotations

from config.pages.navigation import Entry

MEDIA = Entry("media", "Media")
