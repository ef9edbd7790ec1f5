"""Navigation entries of agents and API keys."""

from __future__ import annotations

from config.pages.navigation import Entry

API_KEYS = Entry("api-keys", "API keys")
