"""The entries of agents and API keys in the navigation."""

from __future__ import annotations

from config.pages.navigation import Entry

AGENTS = Entry("agents", "Agents")
API_KEYS = Entry("api-keys", "API keys")
