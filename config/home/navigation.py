"""The dashboard's navigation entries for the home page, the agents' pages and the webhook test."""

from __future__ import annotations

from config.pages.navigation import Entry

HOME = Entry("home", "Home")
AGENTS = Entry("agents", "Agents")
AGENT = Entry("agent")
WEBHOOK_TEST = Entry("webhook-test")
