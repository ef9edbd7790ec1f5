"""What a worker process does beside Celery's tasks: its duties, their heartbeats and, where it is alone, the beat.

Bootsteps of Celery's worker, so that they start and stop with it. The beat is a thread: `-B` would fork a process that a
`memory://` broker cannot reach. Two beats do no harm, since all work that must happen is a row that is claimed.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

from celery import bootsteps
from django.conf import settings
from django.db import DatabaseError, connections
from django.utils import timezone
from django.utils.module_loading import import_string

from config.db.duty import PollingDuty
from config.site.models import Heartbeat

logger = logging.getLogger(__name__)
HEARTBEAT_SECONDS = 5.0
STALLED_SECONDS = 30.0  # a duty without a round for so long gets no heartbeat
STOP_SECONDS = 5.0


class Duties(bootsteps.StartStopStep):
    """The polling duties that settings name, and their heartbeats."""

    def __init__(self, worker: Any, **kwargs: Any) -> None:
        super().__init__(worker, **kwargs)
        self.duties: list[PollingDuty] = []
        self._stop = threading.Event()

    def start(self, worker: Any) -> None:
        self._stop.clear()
        self.duties = [import_string(path)() for path in settings.DUTIES.values()]
        for duty in self.duties:
            duty.start()
        threading.Thread(target=self._beat_hearts, name="heartbeats", daemon=True).start()

    def stop(self, worker: Any) -> None:
        """Stop all duties at once, so that they share the time."""
        self._stop.set()
        stopping = [threading.Thread(target=duty.stop, args=(STOP_SECONDS,)) for duty in self.duties]
        for thread in stopping:
            thread.start()
        for thread in stopping:
            thread.join(STOP_SECONDS + 1)
        self.duties = []

    def terminate(self, worker: Any) -> None:
        self.stop(worker)

    def _beat_hearts(self) -> None:
        while True:
            for duty in self.duties:
                if time.monotonic() - duty.last_run < STALLED_SECONDS:
                    _note(duty.name)
            if self._stop.wait(HEARTBEAT_SECONDS):
                connections.close_all()
                return


class EmbeddedBeat(bootsteps.StartStopStep):
    """Celery's beat as a thread of this worker."""

    def start(self, worker: Any) -> None:
        self.service = worker.app.Beat().Service(app=worker.app)
        threading.Thread(target=self._run, name="beat", daemon=True).start()

    def stop(self, worker: Any) -> None:
        self.service.stop()  # its thread is a daemon and only keeps the time: nothing of it has to be waited for

    def terminate(self, worker: Any) -> None:
        self.stop(worker)

    def _run(self) -> None:
        self.service.start(embedded_process=True)


def _note(duty: str) -> None:
    try:
        Heartbeat.objects.update_or_create(duty=duty, defaults={"beat_at": timezone.now()})
    except DatabaseError as error:
        logger.warning("The heartbeat of %s could not be written: %s", duty, error)
        connections.close_all()
