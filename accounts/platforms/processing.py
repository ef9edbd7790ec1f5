"""Waiting while a platform processes an upload: the adapter asks for the upload's status after growing pauses."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from accounts.platforms.errors import PlatformError
from accounts.platforms.types import Progress, State


def step_to_check_later_or_raise(
    progress: Progress, phase: str, state: State, *, first: float, longest: float, max_checks: int, timeout: PlatformError
) -> Progress:
    """Return the step that asks later whether the platform has processed an upload; raises `timeout` after `max_checks`.

    `looks` in the state counts the checks. The pause before it grows from `first` to `longest` seconds, doubling each time.
    Raises `timeout` after `max_checks`.
    """
    if state.get("looks", 0) >= max_checks:
        raise timeout
    return step_to_check_later(progress, phase, state, first=first, longest=longest)


def step_to_check_later(progress: Progress, phase: str, state: State, *, first: float, longest: float) -> Progress:
    """Return the step that asks again, after a pause, whether the platform has processed an upload, as often as necessary."""
    checks = state.get("looks", 0)
    seconds = min(first * 2 ** min(checks, 20), longest)
    return step_after_pause(progress, phase, {**state, "looks": checks + 1}, seconds)


def step_after_pause(progress: Progress, phase: str, state: State, seconds: float) -> Progress:
    """Return a publishing step that is taken after a pause of `seconds`, such as a check of an upload."""
    return progress.with_next_step(phase, state, ready_at=timezone.now() + timedelta(seconds=seconds))
