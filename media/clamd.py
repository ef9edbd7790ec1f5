"""Speaks to ClamAV's daemon over TCP (clamd(8), in the form of its commands that ends with NUL)."""

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
    """The clamd at `address` (host:port). Everything that is asked of it ends within `seconds` from now.

    Its methods raise OSError when it is gone, slow (TimeoutError) or hangs up without an answer.
    """

    def __init__(self, address: str, *, seconds: float) -> None:
        self._address = address
        self._end = time.monotonic() + seconds

    def ask(self, command: str) -> str:
        """Its answer to a bare command, such as PING or VERSION."""
        return self._exchange([_command(command)])

    def scan(self, pieces: Iterable[bytes]) -> str:
        """Its verdict on these bytes, such as `stream: OK`; `INSTREAM size limit exceeded. ERROR` when they are too many."""
        return self._exchange(_stream(pieces))

    def takes(self, size: int) -> bool:
        """Whether a stream of `size` bytes is within its StreamMaxLength. Announced, it is refused before a byte of it."""
        return not self._exchange([_command("INSTREAM"), struct.pack("!I", size)], half_closed=True)

    def _exchange(self, pieces: Iterable[bytes], *, half_closed: bool = False) -> str:
        """Send all and return the reply. `half_closed`: say that no more comes; the reply may then be empty."""
        with self._connect() as connection:
            whole = False
            with contextlib.suppress(ConnectionError):  # clamd says why it refuses, then breaks off: the reply waits
                for piece in pieces:
                    connection.settimeout(self._left())
                    connection.sendall(piece)
                whole = True
            if half_closed:
                with contextlib.suppress(OSError):  # it has hung up already
                    connection.shutdown(socket.SHUT_WR)
            reply = self._read_reply(connection, required=not half_closed)
        if not whole and not reply.endswith("ERROR"):
            raise ConnectionError("it broke off before it had the whole file")
        return reply

    def _connect(self) -> socket.socket:
        try:
            parts = urlsplit(f"//{self._address}")
            host, port = parts.hostname or "", parts.port or PORT
        except ValueError:
            raise OSError("CLAMAV_ADDRESS is no host:port") from None
        return socket.create_connection((host, port), timeout=min(CONNECT_SECONDS, self._left()))

    def _read_reply(self, connection: socket.socket, *, required: bool) -> str:
        reply = b""
        while not reply.endswith((b"\0", b"\n")):
            connection.settimeout(self._left())
            read = connection.recv(REPLY_BYTES)
            if not read and not reply and not required:
                return ""
            if not read or len(reply) > REPLY_BYTES:
                raise ConnectionError("it hung up, or its answer has no end")
            reply += read
        return reply.decode("ascii", "replace").strip("\0\r\n ")

    def _left(self) -> float:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("it took too long")
        return left


def _command(name: str) -> bytes:
    return b"z" + name.encode() + b"\0"


def _stream(pieces: Iterable[bytes]) -> Iterable[bytes]:
    """INSTREAM: each piece behind its length, and a length of 0 at the end."""
    yield _command("INSTREAM")
    for piece in pieces:
        if piece:
            yield struct.pack("!I", len(piece)) + piece
    yield struct.pack("!I", 0)
