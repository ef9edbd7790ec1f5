"""The Django app configuration of `agents`, the app for agents and API keys."""

from __future__ import annotations

from django.apps import AppConfig


class AgentsConfig(AppConfig):
    name = "agents"
