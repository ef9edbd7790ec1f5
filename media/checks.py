"""Django system checks of the malware scanner: that it answers, and that its size limits allow the largest uploads.

The second check takes seconds. It runs in `check --deploy` and in each starting worker, which logs the warnings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks

from media import scanning


def check_scanner_answers(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Warn in Django's system check if the malware scanner does not answer, because uploads are then refused."""
    if settings.MEDIA_SCANNER == "none":
        return []
    try:
        scanning.ping_scanner()
    except OSError as error:
        return [_silent(error)]
    return []


def check_scanner_limits(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Warn in Django's system check about each size limit of the malware scanner that is below the upload limit."""
    if settings.MEDIA_SCANNER == "none":
        return []
    try:
        problems = scanning.find_scanner_limits_below_max_upload()
    except OSError as error:
        return [_silent(error)]
    hint = "Raise StreamMaxLength and MaxFileSize to the largest upload, and MaxScanSize beyond it, in clamd.conf."
    return [checks.Warning(problem, hint=hint, id="media.W002") for problem in problems]


def _silent(error: OSError) -> checks.CheckMessage:
    return checks.Warning(
        f"The scanner at CLAMAV_ADDRESS={settings.CLAMAV_ADDRESS} does not answer: {error}.",
        hint="Start clamd with TCPSocket and TCPAddr in clamd.conf. Uploads are refused until it answers.",
        id="media.W001",
    )
