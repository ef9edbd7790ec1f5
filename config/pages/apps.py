"""The app whose template tags and static files every page uses."""

from __future__ import annotations

from django.apps import AppConfig


class PagesConfig(AppConfig):
    name = "config.pages"
    label = "pages"
