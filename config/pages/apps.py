"""The `pages` app, with the template tags and static files that every dashboard page uses."""

from __future__ import annotations

from django.apps import AppConfig


class PagesConfig(AppConfig):
    name = "config.pages"
    label = "pages"
