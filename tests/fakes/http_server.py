"""A small HTTP server on loopback, the base class of every stand-in.

A stand-in subclasses `LoopbackServer` and writes `answer(request)`. The base listens on 127.0.0.1 on a free port, runs
each connection in a thread of its own, and records every request before it is answered.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Self
from urllib.parse import parse_qsl, urlsplit

HOLD_LIMIT = 30.0  # seconds: a held answer goes out by itself after this, so that a failing test cannot hang
IDLE_LIMIT = 30.0  # seconds a persistent connection may stay silent


@dataclass(frozen=True)
class ReceivedRequest:
    """A request as a stand-in received it. Header names are in lower case; `query` has the last value of a repeated name."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The request's body as JSON. Raises ValueError for a body that is not JSON."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    """A stand-in's complete response: status, body and additional headers."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_json(cls, value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Self:
        """A response whose body is `value` as JSON."""
        body = json.dumps(value, ensure_ascii=False).encode()
        return cls(status, body, {"Content-Type": "application/json; charset=utf-8", **(headers or {})})


@dataclass(frozen=True)
class RawAnswer:
    """A response of raw bytes, written to the socket piece by piece; the connection is closed after the last one."""

    pieces: Iterable[bytes] = ()


DROPPED = RawAnswer()
"""The connection is closed without a byte."""

Observer = Callable[["LoopbackServer", ReceivedRequest], None]


@contextlib.contextmanager
def observed(observer: Observer) -> Iterator[None]:
    """Call the observer with every request that servers of this class receive in the `with` block, before its response."""
    LoopbackServer.observers.append(observer)
    try:
        yield
    finally:
        LoopbackServer.observers.remove(observer)


class LoopbackServer:
    """A threaded HTTP server on 127.0.0.1, used as a context manager: `with Stub() as stub: stub.url`.

    A fault of the stand-in itself (an exception out of `answer`) is answered with 500 and raised again on leaving the
    `with` block, so that no test takes it for the behaviour of the service.
    """

    platform: ClassVar[str] = ""  # the platform that it stands in for, by the registry's name
    observers: ClassVar[list[Observer]] = []  # called with every request of every server

    def __init__(self) -> None:
        self._arrived = threading.Condition()
        self._requests: list[ReceivedRequest] = []
        self._held: set[threading.Event] = set()
        self._faults: list[Exception] = []
        self._closing = False
        self._http = _HTTPServer(self)
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, name=type(self).__name__, daemon=True
        )

    def answer(self, request: ReceivedRequest) -> Answer | RawAnswer:
        """Answer a request to the stand-in. Called in the connection's thread, several at a time."""
        raise NotImplementedError

    @property
    def port(self) -> int:
        """The port that the stand-in listens on."""
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        """The stand-in's address without a trailing slash, such as http://127.0.0.1:43127."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def requests(self) -> tuple[ReceivedRequest, ...]:
        """The requests that the stand-in has received, in order of arrival."""
        with self._arrived:
            return tuple(self._requests)

    def wait_for(self, count: int, timeout: float = 5.0) -> tuple[ReceivedRequest, ...]:
        """Wait until `count` requests have arrived and return all so far; AssertionError after `timeout` seconds."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: len(self._requests) >= count, timeout):
                raise AssertionError(f"{len(self._requests)} of {count} requests arrived within {timeout} s")
            return tuple(self._requests)

    def hold(self, release: threading.Event) -> None:
        """Block the calling handler until `release` is set, the server closes or HOLD_LIMIT has passed."""
        with self._arrived:
            self._held.add(release)
            if self._closing:
                release.set()
        release.wait(HOLD_LIMIT)

    def received(self, request: ReceivedRequest) -> Answer | RawAnswer:
        """Record a request, then call `answer`. Called by the connection's handler."""
        with self._arrived:
            self._requests.append(request)
            self._arrived.notify_all()
        for observer in tuple(self.observers):
            observer(self, request)
        try:
            return self.answer(request)
        except Exception as fault:
            self._faults.append(fault)
            return Answer(500, f"the stand-in failed: {fault!r}".encode())

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with self._arrived:
            self._closing = True
            for release in self._held:
                release.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()
        self._http.close_connections()
        if error is None and self._faults:
            raise self._faults[0]


class _HTTPServer(ThreadingHTTPServer):
    request_queue_size = 128  # many clients may connect at once

    def __init__(self, stand_in: LoopbackServer) -> None:
        self.stand_in = stand_in
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def shutdown(self) -> None:
        """Stop accepting connections at once, where the base class only stops at its next poll."""
        with contextlib.suppress(OSError):  # macOS refuses, and the thread stops at its next poll
            self.socket.shutdown(socket.SHUT_RDWR)
        super().shutdown()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors of clients that disconnect before their response was written."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def close_connections(self) -> None:
        """Close the persistent connections, because a closed stand-in must not answer."""
        for connection in tuple(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_LIMIT
    wbufsize = -1  # head and body leave in one packet; two would wait for the client's delayed ACK
    disable_nagle_algorithm = True
    server: _HTTPServer

    def _serve(self) -> None:
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            self.close_connection = True
            self._write(Answer(411, b"send a Content-Length", {"Connection": "close"}))
            return
        target = urlsplit(self.path)
        request = ReceivedRequest(
            method=self.command,
            path=target.path,
            query=dict(parse_qsl(target.query, keep_blank_values=True)),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=self.rfile.read(int(self.headers.get("Content-Length") or 0)),
        )
        answer = self.server.stand_in.received(request)
        with contextlib.suppress(OSError):  # the client has gone, or the stand-in has closed
            self._write(answer)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _serve

    def _write(self, answer: Answer | RawAnswer) -> None:
        if isinstance(answer, RawAnswer):
            self.close_connection = True
            for piece in answer.pieces:
                self.wfile.write(piece)
                self.wfile.flush()
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.status not in (204, 304):
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name is the base class's)
        """Log nothing: tests read `requests` instead."""
