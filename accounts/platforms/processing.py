"""Waiting while a platform processes what was uploaded: it is asked again after growing pauses, up to a limit."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.platforms.errors import PlatformError
from accounts.platforms.types import Progress


def ask_again(
    phase: str, state: Mapping[str, Any], *, first: float, longest: float, max_checks: int, timeout: PlatformError
) -> Progress:
    """The step that asks the platform again; `looks` in the state counts how often it was asked.

    The pause before it grows from `first` to `longest` seconds, doubling each time. Raises `timeout` after `max_checks`.
    """
    checks = state.get("looks", 0)
    if checks >= max_checks:
        raise timeout
    ready_at = timezone.now() + timedelta(seconds=min(first * 2 ** min(checks, 20), longest))
    return Progress(phase, {**state, "looks": checks + 1}, ready_at=ready_at)
