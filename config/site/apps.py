"""The `site` app: what needs many apps at once, and the worker's signs of life."""

from __future__ import annotations

from django.apps import AppConfig


class SiteConfig(AppConfig):
    name = "config.site"
    label = "site"
