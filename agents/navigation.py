"""The link to the API keys page in the dashboard's navigation."""

from __future__ import annotations

from config.pages.navigation import PageEntry

API_KEYS = PageEntry("api-keys", "API keys")
