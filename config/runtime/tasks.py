"""What reaches a worker through the broker: wake-ups, and what the beat starts for all apps together."""

from __future__ import annotations

from celery import shared_task

from config.console import retention, status
from config.jobs import wake_up
from config.notices import telling


@shared_task(name=wake_up.WAKE_TASK)
def wake(loop: str) -> None:
    """Wake this worker's loop: a row may be due."""
    wake_up.wake_now(loop)


@shared_task
def beat_heartbeat() -> None:
    """The beat keeps the time, the broker carries its word, and a worker hears it."""
    status.note_heartbeat(status.BEAT)


@shared_task
def run_retention() -> bool:
    """Let go what is over; whether all of it went."""
    return retention.run_retention().complete


@shared_task
def tell_notices() -> int:
    """Tell people by e-mail what has come up."""
    return telling.tell_notices()
