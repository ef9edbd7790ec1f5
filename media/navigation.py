"""The navigation entry of the media library in the dashboard."""

from __future__ import annotations

from config.pages.navigation import DashboardPage

MEDIA = DashboardPage("media", "Media", "photo")
