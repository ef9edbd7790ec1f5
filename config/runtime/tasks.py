"""Celery tasks of the whole service: wake-ups, the scheduler's sign of life, deletion of old rows, e-mail notices."""

from __future__ import annotations

from celery import shared_task

from config.console import retention, status
from config.jobs import wake_up
from config.notices import sending


@shared_task(name=wake_up.WAKE_TASK)
def wake(loop: str) -> None:
    """Celery task: wake up a worker loop of this process, because a job may be waiting for it."""
    wake_up.wake_now(loop)


@shared_task
def beat_heartbeat() -> None:
    """Celery task: record that the scheduler (Celery beat) is alive, as its task has reached a worker."""
    status.record_heartbeat(status.BEAT)


@shared_task
def run_retention() -> bool:
    """Celery task: delete old rows by the retention rules; return whether none are left."""
    return retention.run_retention().complete


@shared_task(name="config.runtime.tasks.tell_notices")
def send_notices() -> int:
    """Celery task: send the e-mail notices that are due; return how many digest e-mails were processed."""
    return sending.send_notices()
