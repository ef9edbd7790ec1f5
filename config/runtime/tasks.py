"""Celery tasks of the whole service: waking job loops, the scheduler's heartbeat, data retention, e-mail notices."""

from __future__ import annotations

from celery import shared_task

from config.console import retention_run, status
from config.jobs import wake_up
from config.notices import sending


@shared_task(name=wake_up.WAKE_TASK)
def wake(loop: str) -> None:
    """Celery task: let a background worker loop look for due jobs now instead of at its next poll."""
    wake_up.wake_worker_loop_now(loop)


@shared_task
def beat_heartbeat() -> None:
    """Celery task: record that Celery beat is alive, because this task runs only when beat has scheduled it."""
    status.record_heartbeat(status.BEAT)


@shared_task
def run_retention() -> bool:
    """Celery task: delete rows that have expired by the retention rules; return whether all of them were deleted."""
    return retention_run.run_retention().complete


@shared_task(name="config.runtime.tasks.tell_notices")
def send_notices() -> int:
    """Celery task: send the e-mail notices of new events; return how many digest e-mails were processed."""
    return sending.create_and_queue_notices()
