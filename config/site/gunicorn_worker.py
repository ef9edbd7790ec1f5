"""gunicorn's threaded worker, with the service's error envelope for what never reaches the application."""

from __future__ import annotations

import json
import select
import socket
import struct
from contextlib import suppress
from http import HTTPStatus
from typing import Any

from django.utils.module_loading import import_string
from gunicorn.http.errors import ConfigurationProblem, InvalidResponseHeader, InvalidResponseHeaderName, ParseException
from gunicorn.util import write_nonblock
from gunicorn.workers.gthread import ThreadWorker

from config.api.errors import ApiError, InternalError, MalformedRequest
from config.api.trace import HEADER, start_trace
from config.environment import env

READ_TIMEOUT = struct.pack("ll", env.int("WEB_READ_SECONDS", default=30), 0)
STOP_WAITING = "posts.services.wait.stop_waiting"
OUR_FAULTS = (ConfigurationProblem, InvalidResponseHeader, InvalidResponseHeaderName)


class EnvelopeWorker(ThreadWorker):
    """Answers a request that is no HTTP, or an error outside Django, as JSON instead of gunicorn's HTML page."""

    def handle(self, conn: Any) -> Any:
        """Who stalls in the middle of a request gives its thread back: the kernel lets no read of it wait longer."""
        conn.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, READ_TIMEOUT)
        return super().handle(conn)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """SIGTERM: finish the requests in hand, those first that only wait for an outcome."""
        with suppress(Exception):  # the application is not loaded yet: nobody waits
            import_string(STOP_WAITING)()  # by name: gunicorn loads this class before the application
        super().handle_exit(sig, frame)

    def set_accept_enabled(self, enabled: bool) -> None:
        """A worker that stops takes up what waits at its door and closes it, so that a load balancer is refused at once
        and asks another machine. gunicorn leaves it open until the last request is answered, and then breaks off what
        has come meanwhile."""
        super().set_accept_enabled(enabled)
        if not enabled and not self.alive:
            for listener in self.sockets:
                while select.select([listener], [], [], 0)[0]:
                    self.accept(listener)
                listener.close()

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: Exception) -> None:
        """Log `exc` and answer 400 MALFORMED_REQUEST when the client is at fault, else 500 INTERNAL_ERROR."""
        trace_id = start_trace()
        error: ApiError
        if isinstance(exc, ParseException) and not isinstance(exc, OUR_FAULTS):
            self.log.warning("Not valid HTTP, trace %s: %s", trace_id, exc)
            error = MalformedRequest("The request is not valid HTTP.", suggested_action="Send well-formed HTTP/1.1.")
        else:
            self.log.error("Error outside the application, trace %s", trace_id, exc_info=exc)
            error = InternalError()
        try:
            write_nonblock(client, http_answer(error))
        except OSError:
            self.log.debug("The client of trace %s did not wait for its answer", trace_id)


def http_answer(error: ApiError) -> bytes:
    """`error` as a whole HTTP/1.1 answer, after which the connection closes."""
    envelope = error.envelope()
    body = json.dumps(envelope).encode()
    lines = [
        f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}",
        "Connection: close",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        f"{HEADER}: {envelope['trace_id']}",
    ]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body
