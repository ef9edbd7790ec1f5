"""Navigation entries of the dashboard pages that use several apps."""

from __future__ import annotations

from config.pages.navigation import Entry

HOME = Entry("home", "Home")
AGENTS = Entry("agents", "Agents")
AGENT = Entry("agent")
WEBHOOK_TEST = Entry("webhook-test")
