"""The `site` app: what needs many apps at once, and the worker's signs of life."""

from __future__ import annotations

from django.apps import AppConfig


class SiteConfig(AppConfig):
    name = "config.site"
    label = "site"

    def ready(self) -> None:
        # Registers how the document describes the operator's token; DRF loads the authentication class too early for that.
        import config.site.ops.openapi  # noqa: F401, PLC0415
