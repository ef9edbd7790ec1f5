"""Start-up steps of the Celery worker, which run background job loops, Celery beat and a metrics server in its process.

The beat is a thread, because `-B` would fork a process that a `memory://` broker cannot reach. Two beats are harmless:
required work is a row that only one worker claims.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterable
from importlib import import_module
from typing import Any, cast
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from celery import beat, bootsteps
from celery.signals import worker_shutting_down
from django.conf import settings
from django.core import checks
from django.core.handlers.wsgi import WSGIRequest
from django.db import DatabaseError, close_old_connections, connections
from django.http import HttpResponse
from django.utils.module_loading import import_string

from config.api.error_handlers import django_error_response
from config.api.errors import NotFound
from config.checks import require_valid_settings
from config.console.metrics import metrics
from config.console.status import record_heartbeat
from config.jobs.worker_loop import WorkerLoop
from config.runtime.garbage_collection import shorten_garbage_collections

logger = logging.getLogger(__name__)
HEARTBEAT_SECONDS = 5.0
STALLED_SECONDS = 30.0  # a loop that has not run for this long gets no heartbeat
STOP_SECONDS = 5.0
# How long a thread that returns from I/O waits for the GIL. Python's default of 5 ms adds up over the statements of a batch
# while dozens of threads publish; much less costs more time for switches than it saves.
THREAD_SWITCH_SECONDS = 0.002


class WorkerLoopsStep(bootsteps.StartStopStep):
    """Start-up step of the Celery worker: runs the job loops of settings.WORKER_LOOPS in threads and records heartbeats."""

    def __init__(self, worker: Any, **kwargs: Any) -> None:
        super().__init__(worker, **kwargs)
        self.loops: list[WorkerLoop] = []
        self._stop = threading.Event()
        self._stopping: list[threading.Thread] = []
        # Celery takes seconds from the signal to `stop`; the loops start to stop at the signal.
        worker_shutting_down.connect(self._begin_to_stop, weak=False)

    def start(self, parent: Any) -> None:
        require_valid_settings()
        sys.setswitchinterval(THREAD_SWITCH_SECONDS)
        self._stop.clear()
        self.loops = [import_string(path)() for path in settings.WORKER_LOOPS.values()]
        shorten_garbage_collections()
        for loop in self.loops:
            loop.start()
        threading.Thread(target=self._write_heartbeats, name="heartbeats", daemon=True).start()
        threading.Thread(target=self._complete_start, name="start", daemon=True).start()

    def stop(self, parent: Any) -> None:
        self._begin_to_stop()
        for thread in self._stopping:
            thread.join(STOP_SECONDS + 1)

    terminate = stop

    def _begin_to_stop(self, **kwargs: Any) -> None:
        """Tell all background job loops of the Celery worker to stop, at the same time, without waiting for their end."""
        if self._stop.is_set():
            return
        self._stop.set()
        self._stopping = [threading.Thread(target=loop.stop_and_wait, args=(STOP_SECONDS,)) for loop in self.loops]
        for thread in self._stopping:
            thread.start()

    def _write_heartbeats(self) -> None:
        while True:
            for loop in self.loops:
                if time.monotonic() - loop.last_run < STALLED_SECONDS:
                    _write_heartbeat(loop.name)
            if self._stop.wait(HEARTBEAT_SECONDS):
                connections.close_all()
                return

    def _complete_start(self) -> None:
        """Complete the Celery worker's start while its loops run: check external programs and, later, load the views.

        Otherwise the first link in an e-mail or to the payment processor would load them, within a loop's transaction.
        """
        _log_failed_checks()
        if not self._stop.wait(HEARTBEAT_SECONDS):
            import_module(settings.ROOT_URLCONF)
            shorten_garbage_collections()


class CeleryBeatStep(bootsteps.StartStopStep):
    """Start-up step of the Celery worker: runs Celery's scheduler (beat) as a thread of the worker process."""

    def start(self, parent: Any) -> None:
        self._app = parent.app
        self.service = self._new_service()
        threading.Thread(target=self._run, name="beat", daemon=True).start()

    def _new_service(self) -> Any:
        return beat.Service(self._app, scheduler_cls=self._app.conf.beat_scheduler)

    def stop(self, parent: Any) -> None:
        self.service.stop()  # its thread is a daemon that only schedules: no need to wait for it

    terminate = stop

    def _run(self) -> None:
        """Run Celery's scheduler (beat), and start it again after a failure, such as a database outage."""
        while True:
            try:
                return self.service.start(embedded_process=True)
            except Exception:
                logger.exception("The beat failed; it restarts in %s s.", HEARTBEAT_SECONDS)
                connections.close_all()
                time.sleep(HEARTBEAT_SECONDS)
                self.service = self._new_service()


class MetricsServerStep(bootsteps.StartStopStep):
    """Start-up step of the Celery worker: serves GET /metrics if there is no web process (WORKER_METRICS_ADDRESS)."""

    def __init__(self, worker: Any, **kwargs: Any) -> None:
        super().__init__(worker, **kwargs)
        self._server: WSGIServer | None = None

    @property
    def port(self) -> int | None:
        """Return the port of the worker's metrics server, or None if it does not run."""
        return self._server.server_port if self._server is not None else None

    def start(self, parent: Any) -> None:
        if not settings.WORKER_METRICS_ADDRESS:
            return
        host, _, port = settings.WORKER_METRICS_ADDRESS.rpartition(":")
        self._server = make_server(host.strip("[]"), int(port), metrics_wsgi_app, handler_class=_SilentHandler)
        threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True).start()

    def stop(self, parent: Any) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    terminate = stop


def metrics_wsgi_app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Answer GET /metrics in a Celery worker process, with the same content as in a web process (a WSGI application)."""
    close_old_connections()
    try:
        asked = environ["PATH_INFO"] == "/metrics"
        response = cast(HttpResponse, metrics(WSGIRequest(environ)) if asked else django_error_response(NotFound()))
        start_response(f"{response.status_code} {response.reason_phrase}", list(response.items()))
        return [response.content]
    finally:
        close_old_connections()


class _SilentHandler(WSGIRequestHandler):
    timeout = 10  # seconds

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (so it is called there)
        logger.debug(format, *args)


def _log_failed_checks() -> None:
    """When the Celery worker starts, log which external programs, such as the malware scanner, do not work."""
    for message in checks.run_checks(tags=["outside"], include_deployment_checks=True):
        logger.warning("%s %s", message.msg, message.hint or "")


def _write_heartbeat(loop: str) -> None:
    try:
        record_heartbeat(loop)
    except DatabaseError as error:
        logger.warning("The heartbeat of %s could not be written: %s", loop, error)
        connections.close_all()
