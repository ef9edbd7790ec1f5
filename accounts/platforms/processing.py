"""Waiting while a platform processes an upload: the service asks again after growing pauses, up to a limit."""

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
    """The step that asks the platform again about an upload; `looks` in the state counts how often it was asked.

    The pause before it grows from `first` to `longest` seconds, doubling each time. Raises `timeout` after `max_checks`.
    """
    if state.get("looks", 0) >= max_checks:
        raise timeout
    return check_later(phase, state, first=first, longest=longest)


def check_later(phase: str, state: Mapping[str, Any], *, first: float, longest: float) -> Progress:
    """The step that asks the platform again about an upload, without a maximum of checks: the caller handles that."""
    checks = state.get("looks", 0)
    return step_after_pause(phase, {**state, "looks": checks + 1}, min(first * 2 ** min(checks, 20), longest))


def step_after_pause(phase: str, state: Mapping[str, Any], seconds: float) -> Progress:
    """The step of a publication's phase, taken after a pause of so many seconds."""
    return Progress(phase, state, ready_at=timezone.now() + timedelta(seconds=seconds))
