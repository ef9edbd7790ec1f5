"""The Django app `config` (AppConfig), which owns the `manage.py` commands and the system checks."""

from __future__ import annotations

from django.apps import AppConfig
from django.core import checks
from django.core.signals import request_started

import config.celery  # noqa: F401 - every process needs the Celery app to send wake-ups
from config import metrics
from config.checks import SETTINGS_TAG, check_settings
from config.db.connection import skip_health_check_if_fresh


class ConfigConfig(AppConfig):
    name = "config"
    label = "config"

    def ready(self) -> None:
        metrics.lock_metrics_folder_and_clear_if_unused()
        checks.register(check_settings, SETTINGS_TAG)
        request_started.connect(skip_health_check_if_fresh)  # after Django's receiver, which requests a health check
