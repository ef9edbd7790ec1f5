"""A gunicorn worker whose main loop serves slow clients, so that they rarely occupy threads.

A request is processed in three steps:

1. The main loop receives the headers, and waits SMALL_BODY_SECONDS for the small body that most clients send with them.
2. A thread runs the application. If the application reads a body that has not arrived, the run ends with
   BodyNotReceived (config/api/incoming_body.py). The main loop receives the body, and a thread runs the application again.
3. The thread writes the answer, and the main loop sends what the client does not take at once.

After WEB_READ_SECONDS a client must send or receive WEB_LEAST_BYTES_PER_SECOND on average. Health probes have their own
thread. Errors outside the application are answered with the API's error body.
"""

from __future__ import annotations

import select
import selectors
import socket
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from gunicorn.http.errors import ConfigurationProblem, InvalidResponseHeader, InvalidResponseHeaderName, ParseException
from gunicorn.workers.gthread import STOP_KEEPALIVE_LINGER, ThreadWorker

from config.api.errors import ApiError, InternalError, MalformedRequest, RateLimited, RequestTimeout
from config.api.incoming_body import MAX_BODY_BYTES, MEMORY_BYTES, BodyNotReceived
from config.api.trace import current_workspace_or_actor_id, start_or_continue_trace
from config.environment import ensure_data_dir, env
from config.runtime.connection import ClientSpeedMeter, Connection, UploadSlots, raw_error_response

READ_SECONDS = env.int("WEB_READ_SECONDS", default=30)
LEAST_BYTES_PER_SECOND = env.int("WEB_LEAST_BYTES_PER_SECOND", default=32_768)
STOP_WAITING_MODULE, STOP_WAITING_FUNCTION = "posts.services.wait", "end_waits_at_shutdown"
SERVER_ERRORS = (ConfigurationProblem, InvalidResponseHeader, InvalidResponseHeaderName)
SMALL_BODY_SECONDS = 0.2
# A client that is refused while it sends may miss the answer if the connection closes at once.
LINGER_SECONDS, LINGER_BYTES = 2.0, 4_000_000
SWEEP_SECONDS = 0.1
PROBE_PATHS = ("/healthz", "/readyz")

Callback = Callable[[Connection], None]


@dataclass(frozen=True)
class BodyNeededResult:
    """What a thread of the gunicorn worker returns if the application needs a body that the client is still sending."""

    holder: str


class BufferedThreadWorker(ThreadWorker):
    """gunicorn's ThreadWorker, but its main loop receives requests, and sends what threads could not send at once."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._watched: dict[Connection, Callback] = {}  # in the order in which they started to wait
        self._expected_soon: set[Connection] = set()  # connections waiting for a small body
        self._upload_slots = UploadSlots()
        self._swept_at = 0.0
        self._stopped_at: float | None = None
        self._probes = ThreadPoolExecutor(max_workers=1, thread_name_prefix="probe")
        self._incoming = str(ensure_data_dir() / "incoming")  # settings.FILE_UPLOAD_TEMP_DIR, before settings can be read

    @classmethod
    def check_config(cls, cfg: Any, log: Any) -> None:
        """Raise RuntimeError if gunicorn's settings ask for TLS, because only the reverse proxy in front handles TLS."""
        super().check_config(cfg, log)
        if cfg.is_ssl:
            raise RuntimeError("This server speaks plain HTTP: put a proxy with TLS in front of it.")

    # Opening and closing connections (main loop).

    def accept(self, listener: socket.socket) -> None:
        """Accept a connection in the gunicorn worker; near the limit, first close another one that waits for a request.

        Of the others whose body the application has not begun to read, it closes the one that has waited for longest.
        """
        try:
            client, address = listener.accept()
        except OSError:  # the client disconnected, or another process accepted it
            return
        if self.nr_conns >= self.worker_connections * 9 // 10:
            waiting = (conn for conn, callback in self._watched.items() if callback == self._on_readable)
            if oldest := next((conn for conn in waiting if not conn.admitted), None):
                self._drop(oldest)
        self.nr_conns += 1
        pace = ClientSpeedMeter(READ_SECONDS, LEAST_BYTES_PER_SECOND)
        self._on_readable(Connection(client, address, listener.getsockname(), self.cfg, pace, self._incoming))

    def _watch(self, conn: Connection, event: int, callback: Callback) -> None:
        known = self._watched.get(conn)
        if known == callback:
            return
        change = self.poller.modify if known else self.poller.register
        change(conn.socket, event, lambda _: callback(conn))
        self._watched[conn] = callback

    def _unwatch(self, conn: Connection) -> None:
        self._expected_soon.discard(conn)
        if self._watched.pop(conn, None):
            self.poller.unregister(conn.socket)

    def _drop(self, conn: Connection) -> None:
        self._unwatch(conn)
        self._upload_slots.release_slot(conn)
        conn.close()
        self.nr_conns -= 1

    # Receiving a request (main loop).

    def _on_readable(self, conn: Connection) -> None:
        try:
            conn.receive()
        except ParseException as error:
            return self._refuse(conn, error)
        except OSError:
            return self._drop(conn)
        if conn.hung_up and not conn.body:
            return self._drop(conn)
        return self._run_when_due(conn)

    def _run_when_due(self, conn: Connection) -> None:
        """Let the gunicorn worker run the application in a thread if enough of the request has arrived, or wait for more."""
        body = conn.body
        if body is None or (conn.admitted and not body.needs_no_more_bytes):
            due = False
        elif body.needs_no_more_bytes or conn.expects_continue or max(body.received, body.length or 0) > MEMORY_BYTES:
            due = True
        else:
            due = conn.pace.elapsed_seconds() > SMALL_BODY_SECONDS
            self._expected_soon.add(conn)
        if due:
            self._unwatch(conn)
            self.enqueue_req(conn)
        else:
            self._watch(conn, selectors.EVENT_READ, self._on_readable)

    def _receive_body(self, conn: Connection, holder: str) -> None:
        """Let gunicorn's main loop receive the body that a view asked for; refuse it if the sender has too many uploads."""
        body, conn.admitted = conn.body, True
        if body is None:
            return self._drop(conn)
        conn.pace.restart()  # do not count the run of the application
        if body.limit > MAX_BODY_BYTES and not self._upload_slots.reserve_slot(conn, holder or str(conn.client)):
            body.fault = RateLimited("Too many uploads at the same time.", headers={"Retry-After": "5"})
        elif conn.expects_continue:
            conn.sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        return self._run_when_due(conn)

    # Running a request (in a thread, except enqueue_req and finish_request).

    def enqueue_req(self, conn: Connection) -> None:
        """Let a thread of the gunicorn worker run the application for a request; health checks have a thread of their own."""
        conn.set_content_length_and_must_close()
        probe = conn.request is not None and conn.request.path in PROBE_PATHS
        run = (self._probes if probe else self.tpool).submit(self.handle, conn)
        run.add_done_callback(lambda done: self.method_queue.defer(self.finish_request, conn, done))

    def handle(self, conn: Connection) -> bool | BodyNeededResult:
        """Run the app in a thread; return whether the connection stays open, or BodyNeededResult until the body arrives."""
        try:
            return bool(self.handle_request(conn.request, conn))
        except BodyNotReceived:
            return BodyNeededResult(current_workspace_or_actor_id())
        except (StopIteration, OSError) as error:
            self.log.debug("The connection ends: %s", error)
        except Exception as error:
            self.handle_error(conn.request, conn.sock, conn.client, error)
        return False

    def finish_request(self, conn: Connection, done: Future[bool | BodyNeededResult]) -> None:
        """Continue in the gunicorn worker's main loop after the application ran: receive the body or send the response."""
        outcome = False if done.cancelled() or done.exception() else done.result()
        if isinstance(outcome, BodyNeededResult):
            return self._receive_body(conn, outcome.holder)
        conn.reusable = outcome
        return self._on_writable(conn)

    # Sending the answer (main loop).

    def _on_writable(self, conn: Connection) -> None:
        try:
            conn.sock.send_until_client_blocks()
        except OSError:
            return self._drop(conn)
        if not conn.sock.is_fully_sent:
            return self._watch(conn, selectors.EVENT_WRITE, self._on_writable)
        self._upload_slots.release_slot(conn)
        if not conn.reusable:
            return self._linger(conn)
        try:
            conn.start_next_request()
        except ParseException as error:
            return self._refuse(conn, error)
        return self._run_when_due(conn)

    def _linger(self, conn: Connection) -> None:
        """Let the gunicorn worker discard data for 2 s before closing, since closing at once could lose the last response."""
        with suppress(OSError):
            conn.socket.shutdown(socket.SHUT_WR)
        conn.pace = ClientSpeedMeter(LINGER_SECONDS, float("inf"))
        self._watch(conn, selectors.EVENT_READ, self._on_lingering)

    def _on_lingering(self, conn: Connection) -> None:
        if conn.discard_data_and_check_open() is False or conn.pace.moved_bytes > LINGER_BYTES:
            self._drop(conn)

    def _refuse(self, conn: Connection, error: Exception) -> None:
        self.handle_error(None, conn.sock, conn.client, error)
        conn.reusable = False
        self._on_writable(conn)

    # Time-outs (main loop).

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        """Let gunicorn's main loop wait for socket events; at most 0.1 s while a small request body is about to arrive."""
        super().wait_for_and_dispatch_events(min(timeout, SWEEP_SECONDS) if self._expected_soon else timeout)

    def murder_pending(self) -> None:
        """Close the connections of clients that are too slow; gunicorn calls this in each round of its main loop."""
        now = time.monotonic()
        if not self.alive and self._stopped_at is None:
            self._stopped_at = now
        if now - self._swept_at < SWEEP_SECONDS:
            return
        self._swept_at = now
        for conn, callback in list(self._watched.items()):
            if callback != self._on_readable:
                pace = conn.sock.pace if callback == self._on_writable else conn.pace
                if pace.seconds_until_too_slow() <= 0:
                    self._drop(conn)
            elif conn.is_idle:
                if conn.pace.elapsed_seconds() > self._idle_seconds(conn, now):
                    self._drop(conn)
            elif conn.pace.seconds_until_too_slow() > 0:
                self._run_when_due(conn)
            elif conn.body:
                conn.body.fault = conn.body.fault or RequestTimeout()
                self._run_when_due(conn)
            else:
                self._refuse(conn, RequestTimeout())

    def _idle_seconds(self, conn: Connection, now: float) -> float:
        """Return how many seconds a client's connection may stay idle, without a request, before the worker closes it."""
        if self._stopped_at is not None:
            return STOP_KEEPALIVE_LINGER if now - self._stopped_at < STOP_KEEPALIVE_LINGER else 0.0
        return float(self.cfg.keepalive) if conn.requests else READ_SECONDS

    # Stopping.

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Handle SIGTERM in the gunicorn worker: finish the running requests, without waiting further for posts' results."""
        # Importing here would break the imports of a worker that is still loading the application.
        if end_waits := getattr(sys.modules.get(STOP_WAITING_MODULE), STOP_WAITING_FUNCTION, None):
            end_waits()
        super().handle_exit(sig, frame)

    def set_accept_enabled(self, enabled: bool) -> None:
        """Let the gunicorn worker start or stop accepting connections; while it exits, also close the listening sockets.

        A load balancer is then refused at once and uses another machine. gunicorn itself leaves the socket open until the
        last request is answered, and then drops the connections that arrived in the meantime.
        """
        super().set_accept_enabled(enabled)
        if not enabled and not self.alive:
            for listener in self.sockets:
                while select.select([listener], [], [], 0)[0]:
                    self.accept(listener)
                listener.close()

    def murder_keepalived(self, force: bool = False) -> None:
        """Close all client connections if `force` is true, which gunicorn sets when the worker's process ends."""
        if force:
            self._probes.shutdown(wait=False)
            for conn in list(self._watched):
                self._drop(conn)

    # Errors outside the application.

    def handle_error(self, req: Any, client: Any, addr: Any, exc: Exception) -> None:
        """Log an error of the gunicorn worker outside the application, and answer with an API error: 400 for invalid HTTP."""
        trace_id = start_or_continue_trace()
        error: ApiError
        if isinstance(exc, ApiError):
            error = exc
        elif isinstance(exc, ParseException) and not isinstance(exc, SERVER_ERRORS):
            self.log.warning("Invalid HTTP, trace %s: %s", trace_id, exc)
            error = MalformedRequest("The request is not valid HTTP.", suggested_action="Send well-formed HTTP/1.1.")
        else:
            self.log.error("Error outside the application, trace %s", trace_id, exc_info=exc)
            error = InternalError()
        try:
            client.sendall(raw_error_response(error))
        except OSError:
            self.log.debug("The client of trace %s did not wait for its answer", trace_id)
