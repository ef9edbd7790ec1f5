"""System checks of the scanner: whether it answers, and whether its limits suffice.

The second takes seconds: it is made by `check --deploy`, and by each worker beside its start, which logs what it finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks

from media import scanning


def check_scanner(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[checks.CheckMessage]:
    """A warning, no error, when it does not answer: it may start a moment later, and uploads are refused until then."""
    if settings.MEDIA_SCANNER == "none":
        return []
    try:
        scanning.ping_scanner()
    except OSError as error:
        return [_silent(error)]
    return []


def check_scanner_limits(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[checks.CheckMessage]:
    """A warning for each of its limits that is below those of uploads."""
    if settings.MEDIA_SCANNER == "none":
        return []
    try:
        problems = scanning.scanner_limit_problems()
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
