"""What a worker process runs beside Celery's tasks: its loops, their heartbeats and, where it is alone, the beat.

Bootsteps of Celery's worker, so that they start and stop with it. The beat is a thread: `-B` would fork a process that a
`memory://` broker cannot reach. Two beats do no harm, since all work that must happen is a row that is claimed.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from typing import Any

from celery import beat, bootsteps
from celery.signals import worker_shutting_down
from django.conf import settings
from django.core import checks
from django.db import DatabaseError, connections
from django.utils import timezone
from django.utils.module_loading import import_string

from config.checks import refuse_unfit_settings
from config.jobs.models import Heartbeat
from config.jobs.worker_loop import WorkerLoop

logger = logging.getLogger(__name__)
HEARTBEAT_SECONDS = 5.0
STALLED_SECONDS = 30.0  # a loop that has not run for so long gets no heartbeat
STOP_SECONDS = 5.0
# A thread that comes back from the database or the network waits so long for one that computes. Python's own 5 ms add up
# over the statements of a transaction while dozens of threads publish.
SWITCH_SECONDS = 0.0005


class WorkerLoops(bootsteps.StartStopStep):
    """The worker loops that settings name, and their heartbeats."""

    def __init__(self, worker: Any, **kwargs: Any) -> None:
        super().__init__(worker, **kwargs)
        self.loops: list[WorkerLoop] = []
        self._stop = threading.Event()
        self._stopping: list[threading.Thread] = []
        # Celery takes seconds from the signal to the steps; the loops stop meanwhile.
        worker_shutting_down.connect(self._begin_to_stop, weak=False)

    def start(self, worker: Any) -> None:
        refuse_unfit_settings()
        sys.setswitchinterval(SWITCH_SECONDS)
        self._stop.clear()
        self.loops = [import_string(path)() for path in settings.WORKER_LOOPS.values()]
        for loop in self.loops:
            loop.start()
        threading.Thread(target=self._beat_hearts, name="heartbeats", daemon=True).start()
        threading.Thread(target=_tell_of_the_outside, name="checks", daemon=True).start()

    def stop(self, worker: Any) -> None:
        self._begin_to_stop()
        for thread in self._stopping:
            thread.join(STOP_SECONDS + 1)

    def terminate(self, worker: Any) -> None:
        self.stop(worker)

    def _begin_to_stop(self, **kwargs: Any) -> None:
        """Stop all loops at once, each in a thread, so that they share the time."""
        if self._stop.is_set():
            return
        self._stop.set()
        self._stopping = [threading.Thread(target=loop.stop, args=(STOP_SECONDS,)) for loop in self.loops]
        for thread in self._stopping:
            thread.start()

    def _beat_hearts(self) -> None:
        while True:
            for loop in self.loops:
                if time.monotonic() - loop.last_run < STALLED_SECONDS:
                    _note(loop.name)
            if self._stop.wait(HEARTBEAT_SECONDS):
                connections.close_all()
                return


class EmbeddedBeat(bootsteps.StartStopStep):
    """Celery's beat as a thread of this worker."""

    def start(self, worker: Any) -> None:
        self._app = worker.app
        self.service = self._new_service()
        threading.Thread(target=self._run, name="beat", daemon=True).start()

    def _new_service(self) -> Any:
        return beat.Service(self._app, scheduler_cls=self._app.conf.beat_scheduler)

    def stop(self, worker: Any) -> None:
        self.service.stop()  # its thread is a daemon and only keeps the time: nothing of it has to be waited for

    def terminate(self, worker: Any) -> None:
        self.stop(worker)

    def _run(self) -> None:
        """Keep the time; a beat that the database's absence has ended begins again."""
        while True:
            try:
                return self.service.start(embedded_process=True)
            except Exception:
                logger.exception("The beat met a fault; it begins again in %s s.", HEARTBEAT_SECONDS)
                connections.close_all()
                time.sleep(HEARTBEAT_SECONDS)
                self.service = self._new_service()


def _tell_of_the_outside() -> None:
    """Log what is not right with the programs that the service needs; it starts all the same, for they may come later."""
    for message in checks.run_checks(tags=["outside"], include_deployment_checks=True):
        logger.warning("%s %s", message.msg, message.hint or "")


def _note(loop: str) -> None:
    try:
        Heartbeat.objects.update_or_create(duty=loop, defaults={"beat_at": timezone.now()})
    except DatabaseError as error:
        logger.warning("The heartbeat of %s could not be written: %s", loop, error)
        connections.close_all()
