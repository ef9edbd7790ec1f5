"""The registered Celery tasks."""

from __future__ import annotations

import os
import subprocess
import sys

from django.conf import settings

from config.jobs.wake_up import WAKE_TASK

AS_A_WORKER = """
from config.celery import app

app.loader.init_worker()
app.finalize()
print(*app.tasks, sep="\\n")
"""


def test_a_worker_registers_the_wake_up_and_every_periodic_task() -> None:
    """Runs in a separate process, because tests import modules that a worker may not."""
    done = subprocess.run(
        [sys.executable, "-c", AS_A_WORKER],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    scheduled = {each["task"] for each in settings.CELERY_BEAT_SCHEDULE.values()}
    assert {WAKE_TASK, *scheduled} - set(done.stdout.split()) == set()
