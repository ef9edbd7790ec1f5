"""Waiting while a platform processes an upload: the adapter asks for its status after growing pauses, up to a limit."""

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
    """The publishing step that asks a platform again whether it has processed an upload; `looks` in the state counts checks.

    The pause before it grows from `first` to `longest` seconds, doubling each time. Raises `timeout` after `max_checks`.
    """
    if state.get("looks", 0) >= max_checks:
        raise timeout
    return check_later(phase, state, first=first, longest=longest)


def check_later(phase: str, state: Mapping[str, Any], *, first: float, longest: float) -> Progress:
    """The publishing step that asks a platform again about an upload, however often the platform was asked before."""
    checks = state.get("looks", 0)
    return step_after_pause(phase, {**state, "looks": checks + 1}, min(first * 2 ** min(checks, 20), longest))


def step_after_pause(phase: str, state: Mapping[str, Any], seconds: float) -> Progress:
    """The publishing step that continues a phase, such as the platform's processing, after a pause of `seconds`."""
    return Progress(phase, state, ready_at=timezone.now() + timedelta(seconds=seconds))
