"""Serves GET /metrics from a worker process on a machine without a web process (WORKER_METRICS_ADDRESS)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from typing import Any, cast
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from celery import bootsteps
from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.db import close_old_connections
from django.http import HttpResponse

from config.api.error_handlers import error_response
from config.api.errors import NotFound
from config.console.metrics import metrics

logger = logging.getLogger(__name__)


class MetricsServer(bootsteps.StartStopStep):
    """A step of the Celery worker that serves /metrics in a thread, one request at a time."""

    def __init__(self, worker: Any, **kwargs: Any) -> None:
        super().__init__(worker, **kwargs)
        self._server: WSGIServer | None = None

    @property
    def port(self) -> int | None:
        """Return the port on which the metrics server listens, or None."""
        return self._server.server_port if self._server is not None else None

    def start(self, worker: Any) -> None:
        if not settings.WORKER_METRICS_ADDRESS:
            return
        host, _, port = settings.WORKER_METRICS_ADDRESS.rpartition(":")
        self._server = make_server(host.strip("[]"), int(port), answer, handler_class=_Handler)
        threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True).start()

    def stop(self, worker: Any) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    def terminate(self, worker: Any) -> None:
        self.stop(worker)


def answer(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """WSGI application that answers GET /metrics in a worker process as web processes do."""
    close_old_connections()
    try:
        asked = environ["PATH_INFO"] == "/metrics"
        response = cast(HttpResponse, metrics(WSGIRequest(environ)) if asked else error_response(NotFound()))
        start_response(f"{response.status_code} {response.reason_phrase}", list(response.items()))
        return [response.content]
    finally:
        close_old_connections()


class _Handler(WSGIRequestHandler):
    timeout = 10  # seconds

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (so it is called there)
        logger.debug(format, *args)
