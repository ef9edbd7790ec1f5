"""The navigation entry of the media library in the dashboard."""

from __future__ import annotations

from config.pages.navigation import PageEntry

MEDIA = PageEntry("media", "Media")
