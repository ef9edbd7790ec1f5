"""The task by which the bell reaches a worker."""

from __future__ import annotations

from celery import shared_task

from config.db import bell


@shared_task(name=bell.RING_TASK)
def ring(duty: str) -> None:
    """Wake this worker's duty: a row may be due."""
    bell.ring_now(duty)
