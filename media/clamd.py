"""Client for clamd, ClamAV's malware scanning daemon, over TCP; uses the NUL-terminated commands of clamd(8)."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections.abc import Iterable
from urllib.parse import urlsplit

PORT = 3310
CONNECT_SECONDS = 5.0
REPLY_BYTES = 4096


class Clamd:
    """A client for the clamd at `address` (host:port); all calls together must finish within `seconds`.

    Methods raise OSError if clamd is down, too slow (TimeoutError) or closes the connection without a reply.
    """

    def __init__(self, address: str, *, seconds: float) -> None:
        self._address = address
        self._deadline = time.monotonic() + seconds

    def send_command(self, command: str) -> str:
        """Send a clamd command without data, such as PING or VERSION, and return the reply."""
        return self._exchange([_command(command)])

    def scan(self, pieces: Iterable[bytes]) -> str:
        """Scan the bytes with clamd and return the verdict: `stream: OK`, or `INSTREAM size limit exceeded. ERROR`."""
        return self._exchange(_stream(pieces))

    def accepts(self, size: int) -> bool:
        """Whether clamd's StreamMaxLength allows `size` bytes; clamd refuses an announced size before data are sent."""
        return not self._exchange([_command("INSTREAM"), struct.pack("!I", size)], half_closed=True)

    def _exchange(self, pieces: Iterable[bytes], *, half_closed: bool = False) -> str:
        """Send all pieces to clamd and return the reply.

        With `half_closed`, the end of the data is signalled afterwards, and the reply may be empty.
        """
        with self._connect() as connection:
            whole = False
            with contextlib.suppress(ConnectionError):  # clamd sends its reason before it disconnects
                for piece in pieces:
                    connection.settimeout(self._seconds_left())
                    connection.sendall(piece)
                whole = True
            if half_closed:
                with contextlib.suppress(OSError):  # clamd has already disconnected
                    connection.shutdown(socket.SHUT_WR)
            reply = self._read_reply(connection, required=not half_closed)
        if not whole and not reply.endswith("ERROR"):
            raise ConnectionError("it disconnected before it had received the whole file")
        return reply

    def _connect(self) -> socket.socket:
        try:
            parts = urlsplit(f"//{self._address}")
            host, port = parts.hostname or "", parts.port or PORT
        except ValueError:
            raise OSError("CLAMAV_ADDRESS is not a valid host:port") from None
        return socket.create_connection((host, port), timeout=min(CONNECT_SECONDS, self._seconds_left()))

    def _read_reply(self, connection: socket.socket, *, required: bool) -> str:
        reply = b""
        while not reply.endswith((b"\0", b"\n")):
            connection.settimeout(self._seconds_left())
            read = connection.recv(REPLY_BYTES)
            if not read and not reply and not required:
                return ""
            if not read or len(reply) > REPLY_BYTES:
                raise ConnectionError("it disconnected, or its reply is too long")
            reply += read
        return reply.decode("ascii", "replace").strip("\0\r\n ")

    def _seconds_left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("it took too long")
        return left


def _command(name: str) -> bytes:
    return b"z" + name.encode() + b"\0"


def _stream(pieces: Iterable[bytes]) -> Iterable[bytes]:
    """Yield clamd's INSTREAM command: the length of each piece and the piece, then a length of 0."""
    yield _command("INSTREAM")
    for piece in pieces:
        if piece:
            yield struct.pack("!I", len(piece)) + piece
    yield struct.pack("!I", 0)
