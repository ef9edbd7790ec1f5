"""The dashboard's navigation entries for the home page, the agents' pages and the webhook test."""

from __future__ import annotations

from config.pages.navigation import PageEntry

HOME = PageEntry("home", "Home")
AGENTS = PageEntry("agents", "Agents")
AGENT = PageEntry("agent")
WEBHOOK_TEST = PageEntry("webhook-test")
