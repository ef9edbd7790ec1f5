"""A client's connection to the web server (gunicorn), which receives requests and sends responses without blocking.

The worker's main loop calls `receive` and `send_until_client_blocks` when the socket is ready. A thread that writes an answer
sends as much as the client takes at once and leaves the rest to the main loop.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import IO, Any

from gunicorn.http.errors import LimitRequestHeaders
from gunicorn.http.message import Request
from gunicorn.http.unreader import IterUnreader

from config.api.errors import ApiError
from config.api.incoming_body import IncomingBody
from config.api.trace import TRACE_HEADER

MAX_HEAD_BYTES = 65_536
RECEIVE_BYTES = 65_536  # small enough that malloc needs no system call for each buffer
MAX_UNSENT_BYTES = 2_000_000
END_OF_HEAD = b"\r\n\r\n"


@dataclass
class ClientSpeedMeter:
    """Measures a client's speed in one request or response, which after `grace` seconds must be `rate` bytes per second."""

    grace_seconds: float
    bytes_per_second: float
    began_at: float = field(default_factory=time.monotonic)
    moved_bytes: int = 0

    def elapsed_seconds(self) -> float:
        """Return how many seconds the client has spent so far on sending the request or receiving the response."""
        return time.monotonic() - self.began_at

    def seconds_until_too_slow(self) -> float:
        """Return the seconds until the client's connection counts as too slow if it transfers no more bytes."""
        return self.grace_seconds + self.moved_bytes / self.bytes_per_second - self.elapsed_seconds()

    def restart(self) -> None:
        """Start to measure the client's speed from zero, for the next request or response."""
        self.began_at, self.moved_bytes = time.monotonic(), 0


class BufferedResponseSocket:
    """A stand-in for the client's socket, to which gunicorn writes a response; buffers what the client has not read."""

    def __init__(self, sock: socket.socket, pace: ClientSpeedMeter) -> None:
        self._socket, self.pace = sock, pace
        self._unsent = bytearray()
        self._file: IO[bytes] | None = None
        self._file_missing = 0

    @property
    def is_fully_sent(self) -> bool:
        """Return whether the whole response has been passed to the client's connection."""
        return not self._unsent and self._file is None

    def sendall(self, data: bytes) -> None:
        """Send as much of the response as the client takes now, from a thread; gunicorn's main loop sends the rest.

        It waits only while more than MAX_UNSENT_BYTES of earlier data are unsent.
        """
        if self.is_fully_sent:
            self.pace.restart()
        while len(self._unsent) > MAX_UNSENT_BYTES:
            writable = select.poll()
            writable.register(self._socket, select.POLLOUT)
            if not writable.poll(max(0.0, self.pace.seconds_until_too_slow()) * 1000):
                raise TimeoutError("The client takes the answer too slowly.")
            self.send_until_client_blocks()
        self._unsent += data
        self.send_until_client_blocks()

    def sendfile(self, file: IO[bytes], offset: int, count: int) -> None:
        """Add `count` bytes of a file, from `offset` on, to the response; the worker's main loop sends them later."""
        self._file = os.fdopen(os.dup(file.fileno()), "rb")
        self._file.seek(offset)
        self._file_missing = count

    def send_until_client_blocks(self) -> None:
        """Send as much of the buffered response as the client takes now. Raises OSError if the connection is closed."""
        with contextlib.suppress(BlockingIOError):
            while not self.is_fully_sent:
                if self._file and not self._unsent:
                    self._read_file(self._file)
                count = self._socket.send(memoryview(self._unsent)[:RECEIVE_BYTES])
                del self._unsent[:count]
                self.pace.moved_bytes += count

    def _read_file(self, file: IO[bytes]) -> None:
        piece = file.read(min(RECEIVE_BYTES, self._file_missing))
        if not piece:
            raise OSError("The file is shorter than it was.")
        self._unsent += piece
        self._file_missing -= len(piece)
        if not self._file_missing:
            file.close()
            self._file = None

    def shutdown(self, how: int) -> None:
        """Refuse to shut down the client's connection, because the worker's main loop closes it later. Raises OSError."""
        raise OSError("The main loop ends the connection.")

    def close(self) -> None:
        """Discard the part of the response to the client that this BufferedResponseSocket has not sent yet."""
        self._unsent.clear()
        if self._file:
            self._file.close()
            self._file = None


class UploadSlots:
    """Limits how many connections may receive an upload at the same time, in total and for each workspace or caller."""

    def __init__(self, total: int = 32, each: int = 8) -> None:
        self._total, self._each = total, each
        self._holders: dict[Connection, str] = {}

    def reserve_slot(self, conn: Connection, holder: str) -> bool:
        """Reserve an UploadSlots place for a connection; False if none is left, in total or for the workspace or caller."""
        if len(self._holders) >= self._total or list(self._holders.values()).count(holder) >= self._each:
            return False
        self._holders[conn] = holder
        return True

    def release_slot(self, conn: Connection) -> None:
        """Free the place of a connection in the UploadSlots, if it has one."""
        self._holders.pop(conn, None)


class Connection:
    """A client's connection to the web worker: parses the requests that arrive, and buffers responses to slow clients.

    `socket` is the real socket; gunicorn writes responses to the buffering `sock` instead.
    `request` (parsed by gunicorn) and `body` are set once the request's headers have arrived.
    """

    def __init__(
        self, client_socket: socket.socket, client: Any, server: Any, cfg: Any, pace: ClientSpeedMeter, folder: str
    ) -> None:
        self.socket, self.client, self.server = client_socket, client, server
        self.pace = pace  # minimum speed of received data
        self.sock = BufferedResponseSocket(client_socket, ClientSpeedMeter(pace.grace_seconds, pace.bytes_per_second))
        self.request: Request | None = None
        self.body: IncomingBody | None = None
        self.requests = 0
        self.admitted = False  # the application has started to read the body
        self.expects_continue = False  # the client sent "Expect: 100-continue" (RFC 9110)
        self.hung_up = False  # the client closed its side
        self.reusable = False  # whether the connection stays open for another request after this answer
        self._cfg, self._folder = cfg, folder
        self._arrived = bytearray()  # incomplete headers, or the start of the next request
        self._chunked = self._must_close = False
        client_socket.setblocking(False)

    @property
    def is_idle(self) -> bool:
        """Return whether the client's connection waits for a request that has not begun to arrive."""
        return self.request is None and not self._arrived

    def receive(self) -> None:
        """Read what has arrived on this client connection, without waiting. Raises OSError, or ParseException."""
        try:
            data = self.socket.recv(RECEIVE_BYTES)
        except BlockingIOError:
            return
        if self.is_idle:
            self.pace.restart()
        self.pace.moved_bytes += len(data)
        self.hung_up = not data
        if not self.body:
            self._arrived += data
            self._parse_head()
        elif data:
            self._arrived += self.body.feed(data)
        else:
            self.body.record_lost_connection()

    def discard_data_and_check_open(self) -> bool:
        """Read and discard what the client sent; return False if the client has closed the connection."""
        try:
            data = self.socket.recv(RECEIVE_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self.pace.moved_bytes += len(data)
        return bool(data)

    def start_next_request(self) -> None:
        """Prepare the connection for the client's next request, parts of which may have arrived. Raises ParseException."""
        if self.body:
            self.body.close()
        self.request = self.body = None
        self.admitted = False
        self.pace.restart()
        self._parse_head()

    def _parse_head(self) -> None:
        end = self._arrived.find(END_OF_HEAD)
        if end < 0:
            if len(self._arrived) > MAX_HEAD_BYTES:
                raise LimitRequestHeaders("max buffer headers")
            return
        self.requests += 1
        head = bytes(self._arrived[: end + len(END_OF_HEAD)])
        rest = bytes(self._arrived[len(head) :])
        self._arrived.clear()
        request = Request(self._cfg, IterUnreader([head]), self.client, self.requests)
        lengths = [int(value) for name, value in request.headers if name == "CONTENT-LENGTH"]
        self._chunked = any(name == "TRANSFER-ENCODING" for name, _ in request.headers)
        self._must_close, self.expects_continue = request.must_close, request._expected_100_continue
        request._expected_100_continue = False  # gunicorn would answer it before authentication
        self.request = request
        self.body = request.body = IncomingBody(None if self._chunked else sum(lengths), self._folder)
        self._arrived += self.body.feed(rest)

    def set_content_length_and_must_close(self) -> None:
        """Set the Content-Length of a request for the application, and whether its response must close the connection.

        WSGI needs a Content-Length even for a chunked body.
        """
        if not self.request or not self.body:
            return
        if self._chunked:
            headers = [header for header in self.request.headers if header[0] != "CONTENT-LENGTH"]
            length = self.body.received + (0 if self.body.is_complete else 1)
            self.request.headers = [*headers, ("CONTENT-LENGTH", str(length))]
        # After an answer before the end of the body, the start of the next request is unknown: close the connection.
        self.request.must_close = self._must_close or not self.body.is_complete

    def close(self) -> None:
        """Close the client's connection and delete the data received through it."""
        self.sock.close()
        if self.body:
            self.body.close()
        self.socket.close()


def raw_error_response(error: ApiError) -> bytes:
    """Return the bytes of an error response for a client's connection, when a request is refused before the app runs."""
    fields = error.response_body()
    body = json.dumps(fields).encode()
    lines = [
        f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}",
        "Connection: close",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        f"{TRACE_HEADER}: {fields['trace_id']}",
    ]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body
