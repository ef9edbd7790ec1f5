"""The operators' app, which owns their second factors."""

from __future__ import annotations

from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    name = "config.console"
    label = "console"

    def ready(self) -> None:
        # Registers how the document describes the operator's token; DRF loads the authentication class too early for that.
        import config.console.ops.openapi  # noqa: F401, PLC0415
