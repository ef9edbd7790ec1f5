"""The Django app configuration of the media library."""

from __future__ import annotations

from django.apps import AppConfig
from django.core import checks

from media.checks import check_scanner_answers, check_scanner_limits


class MediaConfig(AppConfig):
    name = "media"

    def ready(self) -> None:
        checks.register(check_scanner_answers, "outside")
        checks.register(check_scanner_limits, "outside", deploy=True)
