"""The `config` app: commands and system checks."""

from __future__ import annotations

from django.apps import AppConfig
from django.core import checks
from django.core.signals import request_started

import config.celery  # noqa: F401 - makes it the app by which every process sends wake-ups
from config.checks import check_production
from config.db.connection import trust_if_fresh


class ConfigConfig(AppConfig):
    name = "config"
    label = "config"

    def ready(self) -> None:
        checks.register(check_production)
        request_started.connect(trust_if_fresh)  # after Django's own, which wants the connection checked
