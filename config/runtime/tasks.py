"""Celery tasks of the service as a whole: wake-ups, the beat's heartbeat, retention and notices."""

from __future__ import annotations

from celery import shared_task

from config.console import retention, status
from config.jobs import wake_up
from config.notices import sending


@shared_task(name=wake_up.WAKE_TASK)
def wake(loop: str) -> None:
    """Wake a worker loop of this process, because a row may be due."""
    wake_up.wake_now(loop)


@shared_task
def beat_heartbeat() -> None:
    """Record that a task of the beat reached a worker through the broker."""
    status.record_heartbeat(status.BEAT)


@shared_task
def run_retention() -> bool:
    """Delete expired rows; returns whether all were deleted."""
    return retention.run_retention().complete


@shared_task(name="config.runtime.tasks.tell_notices")
def send_notices() -> int:
    """Send due notices by e-mail; returns the number of digests processed."""
    return sending.send_notices()
