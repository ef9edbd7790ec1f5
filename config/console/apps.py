"""The Django app `console`, to which the table of operators' second factors belongs."""

from __future__ import annotations

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    name = "config.console"
    label = "console"

    def ready(self) -> None:
        # Registers the OpenAPI description of ADMIN_TOKEN; the authentication class is loaded too early for that.
        import config.console.ops.openapi  # noqa: F401, PLC0415
