"""The `config` app: commands and system checks."""

from __future__ import annotations

from django.apps import AppConfig
from django.core import checks

import config.celery  # noqa: F401 - makes it the app by which every process rings the bell
from config.checks import check_production


class ConfigConfig(AppConfig):
    name = "config"
    label = "config"

    def ready(self) -> None:
        checks.register(check_production)
