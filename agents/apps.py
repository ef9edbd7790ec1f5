"""The Django app configuration of `agents`, the app for agents and API keys."""

from __future__ import annotations

from django.apps import AppConfig


class AgentsConfig(AppConfig):
    name = "agents"

    def ready(self) -> None:
        # Registers the OpenAPI security scheme; DRF loads the authentication class too early for that.
        import agents.openapi  # noqa: F401, PLC0415
