"""One client's connection: the bytes of its request as they arrive, and of the answer as they leave.

Nothing here waits. The worker's main loop calls `receive` and `send_more` when the socket is ready; the answer that a
thread writes is sent at once as far as the client takes it, and the rest is left to the main loop.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import time
from dataclasses import dataclass, field
from typing import IO, Any

from gunicorn.http.errors import LimitRequestHeaders
from gunicorn.http.message import Request
from gunicorn.http.unreader import IterUnreader

from config.api.incoming_body import IncomingBody

MAX_HEAD_BYTES = 65_536
RECEIVE_BYTES = 65_536  # less than what makes malloc ask the kernel for each piece
UNSENT_BYTES = 2_000_000
END_OF_HEAD = b"\r\n\r\n"


@dataclass
class Pace:
    """How slow a client may be: `grace` seconds, and then at least `rate` bytes a second on average."""

    grace: float
    rate: float
    began: float = field(default_factory=time.monotonic)
    moved: int = 0

    def seconds(self) -> float:
        """The time since it began."""
        return time.monotonic() - self.began

    def seconds_left(self) -> float:
        """The time until the client is too slow, if no further byte is moved."""
        return self.grace + self.moved / self.rate - self.seconds()

    def restart(self) -> None:
        """Begin again, for the next request or answer."""
        self.began, self.moved = time.monotonic(), 0


class Answer:
    """What gunicorn's Response writes to in place of the socket. Never blocks for longer than the pace allows."""

    def __init__(self, sock: socket.socket, pace: Pace) -> None:
        self._socket, self.pace = sock, pace
        self._unsent = bytearray()
        self._file: IO[bytes] | None = None
        self._file_missing = 0

    @property
    def sent(self) -> bool:
        """Whether the client's side of the connection has taken all of it."""
        return not self._unsent and self._file is None

    def sendall(self, data: bytes) -> None:
        """Send what the client takes now and leave the rest to the main loop; called in a thread.

        An answer of one piece never waits. Before a further piece, the client has to have taken most of the others.
        """
        if self.sent:
            self.pace.restart()
        while len(self._unsent) > UNSENT_BYTES:
            writable = select.poll()
            writable.register(self._socket, select.POLLOUT)
            if not writable.poll(max(0.0, self.pace.seconds_left()) * 1000):
                raise TimeoutError("The client takes the answer too slowly.")
            self.send_more()
        self._unsent += data
        self.send_more()

    def sendfile(self, file: IO[bytes], offset: int, count: int) -> None:
        """Send `count` bytes of a file after everything else; the main loop does it."""
        self._file = os.fdopen(os.dup(file.fileno()), "rb")
        self._file.seek(offset)
        self._file_missing = count

    def send_more(self) -> None:
        """Send what the client takes now. Raises OSError when it has gone."""
        with contextlib.suppress(BlockingIOError):
            while not self.sent:
                if self._file and not self._unsent:
                    self._read_file(self._file)
                count = self._socket.send(memoryview(self._unsent)[:RECEIVE_BYTES])
                del self._unsent[:count]
                self.pace.moved += count

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
        """Raises OSError: gunicorn then drops the answer by `close`, and the main loop ends the connection."""
        raise OSError("The main loop ends the connection.")

    def close(self) -> None:
        """Drop what has not been sent."""
        self._unsent.clear()
        if self._file:
            self._file.close()
            self._file = None


class LongBodies:
    """Counts the long bodies (uploads) that are being received, so that nobody fills the disk or takes all places."""

    def __init__(self, total: int = 32, each: int = 8) -> None:
        self._total, self._each = total, each
        self._holders: dict[Connection, str] = {}

    def take(self, conn: Connection, holder: str) -> bool:
        """Whether this connection's body may be received for `holder` (a workspace, else who sends it)."""
        if len(self._holders) >= self._total or list(self._holders.values()).count(holder) >= self._each:
            return False
        self._holders[conn] = holder
        return True

    def give_back(self, conn: Connection) -> None:
        """The body is no longer there."""
        self._holders.pop(conn, None)


class Connection:
    """`sock` is where the answer is written (gunicorn's name for it), `socket` the real one.

    `request` and `body` are there once the head has arrived, `request` as gunicorn has parsed it.
    """

    def __init__(
        self, client_socket: socket.socket, client: Any, server: Any, cfg: Any, pace: Pace, folder: str
    ) -> None:
        self.socket, self.client, self.server = client_socket, client, server
        self.pace = pace  # of what arrives
        self.sock = Answer(client_socket, Pace(pace.grace, pace.rate))
        self.request: Request | None = None
        self.body: IncomingBody | None = None
        self.requests = 0
        self.admitted = False  # the application has asked for the body
        self.expects_continue = False  # the client asks before it sends its body (RFC 9110, section 10.1.1)
        self.hung_up = False  # the client sends no more
        self.reusable = False  # for another request, once the answer is sent
        self._cfg, self._folder = cfg, folder
        self._arrived = bytearray()  # of the head that is not complete, or of the next request
        self._chunked = self._must_close = False
        client_socket.setblocking(False)

    @property
    def idle(self) -> bool:
        """Whether it waits for the first byte of a request."""
        return self.request is None and not self._arrived

    def receive(self) -> None:
        """Take what has arrived. Raises OSError, and gunicorn's ParseException for what is no HTTP."""
        try:
            data = self.socket.recv(RECEIVE_BYTES)
        except BlockingIOError:
            return
        if self.idle:
            self.pace.restart()
        self.pace.moved += len(data)
        self.hung_up = not data
        if not self.body:
            self._arrived += data
            self._parse_head()
        elif data:
            self._arrived += self.body.feed(data)
        else:
            self.body.break_off()

    def discard(self) -> bool:
        """Read what has arrived and throw it away; False when no more will come."""
        try:
            data = self.socket.recv(RECEIVE_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self.pace.moved += len(data)
        return bool(data)

    def start_next(self) -> None:
        """Forget the request that was answered, and look at what has arrived behind it. Raises ParseException."""
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
        request._expected_100_continue = False  # gunicorn would answer it before the caller is known
        self.request = request
        self.body = request.body = IncomingBody(None if self._chunked else sum(lengths), self._folder)
        self._arrived += self.body.feed(rest)

    def prepare_run(self) -> None:
        """Show the application the request as it is now: a body in chunks gets the length that WSGI needs."""
        if not self.request or not self.body:
            return
        if self._chunked:
            headers = [header for header in self.request.headers if header[0] != "CONTENT-LENGTH"]
            length = self.body.received + (0 if self.body.complete else 1)
            self.request.headers = [*headers, ("CONTENT-LENGTH", str(length))]
        # An answer before the end of the body is the connection's last: nobody knows where the next request begins.
        self.request.must_close = self._must_close or not self.body.complete

    def close(self) -> None:
        """Close the connection and delete what it held."""
        self.sock.close()
        if self.body:
            self.body.close()
        self.socket.close()
