"""Celery tasks of the whole service: waking worker loops, the beat's heartbeat, retention and e-mail notices."""

from __future__ import annotations

from celery import shared_task

from config.console import retention, status
from config.jobs import wake_up
from config.notices import sending


@shared_task(name=wake_up.WAKE_TASK)
def wake(loop: str) -> None:
    """Celery task: wake a worker loop of this process, because a row of its queue may be due."""
    wake_up.wake_now(loop)


@shared_task
def beat_heartbeat() -> None:
    """Celery task: record a heartbeat of the beat, whose task has reached a worker through the broker."""
    status.record_heartbeat(status.BEAT)


@shared_task
def run_retention() -> bool:
    """Celery task: delete expired rows by the retention rules; return whether all were deleted."""
    return retention.run_retention().complete


@shared_task(name="config.runtime.tasks.tell_notices")
def send_notices() -> int:
    """Celery task: send the due e-mail notices; return the number of digests processed."""
    return sending.send_notices()
