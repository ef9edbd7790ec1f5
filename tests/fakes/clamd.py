"""A clamd on loopback: speaks its protocol over TCP, and can be as limited or as broken as a real one.

It flags what holds the EICAR test file, also inside something that gzip packed.
"""

from __future__ import annotations

import contextlib
import enum
import socketserver
import struct
import threading
import zlib
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from media.scanning import EICAR_TEST_FILE

FOUND = b"stream: Eicar-Test-Signature FOUND"
BOUND_SECONDS = 30.0  # a held answer goes out by itself after this


class Manner(enum.Enum):
    """How it treats a connection, instead of serving it."""

    HANG = "reads, and never answers"
    DROP = "closes without a byte"
    ENDLESS = "answers without an end"
    EARLY = "answers OK to a stream of which it has read nothing, and closes"


@dataclass(frozen=True)
class Limits:
    """Of clamd.conf, in bytes: StreamMaxLength, MaxFileSize; and AlertExceedsMax."""

    stream: int = 100_000_000
    file: int = 100_000_000
    alert: bool = False


class FakeClamd:
    """`with FakeClamd() as clamd: clamd.address`. `replies` stand in for its own, by command.

    `streams` are the lengths of what it was sent to scan.
    """

    def __init__(
        self,
        *,
        limits: Limits = Limits(),
        manner: Manner | None = None,
        replies: dict[str, bytes] | None = None,
        knows_eicar: bool = True,
    ) -> None:
        self.limits, self.manner, self.knows_eicar = limits, manner, knows_eicar
        self.replies = {"PING": b"PONG", "VERSION": b"ClamAV 1.4.3/27654/Mon Jun  2 08:28:25 2026", **(replies or {})}
        self.streams: list[int] = []
        self.closing = threading.Event()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    def verdict(self, stream: bytes) -> bytes:
        """What it says of these bytes, as far as its MaxFileSize lets it see them."""
        exceeded = len(stream) > self.limits.file
        seen = b"" if exceeded else stream
        if stream.startswith(b"\x1f\x8b"):
            unpacker = zlib.decompressobj(wbits=31)
            seen = unpacker.decompress(stream, self.limits.file)
            exceeded = not unpacker.eof
        if exceeded and self.limits.alert:
            return b"stream: Heuristics.Limits.Exceeded.MaxFileSize FOUND"
        return FOUND if EICAR_TEST_FILE in seen and self.knows_eicar else b"stream: OK"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, clamd: FakeClamd) -> None:
        self.clamd = clamd
        super().__init__(("127.0.0.1", 0), _Connection)


class _Connection(socketserver.StreamRequestHandler):
    server: _Server
    timeout = BOUND_SECONDS

    def handle(self) -> None:
        clamd = self.server.clamd
        command = b"".join(iter(lambda: self.rfile.read(1), b"\0")).decode()
        if clamd.manner is Manner.DROP:
            return
        if clamd.manner is Manner.HANG:
            clamd.closing.wait(BOUND_SECONDS)
            return
        with contextlib.suppress(OSError):  # the client has gone
            reply = self._reply(command.removeprefix("z"))
            self.wfile.write(reply + (b"" if clamd.manner is Manner.ENDLESS or not reply else b"\0"))
            while clamd.manner is Manner.ENDLESS:
                self.wfile.write(b"stream: OK " * 100)

    def _reply(self, command: str) -> bytes:
        clamd = self.server.clamd
        if command != "INSTREAM":
            return clamd.replies.get(command, b"UNKNOWN COMMAND")
        if clamd.manner is Manner.EARLY:
            return b"stream: OK"
        stream = bytearray()
        while length := self._length():
            if len(stream) + length > clamd.limits.stream:
                return b"INSTREAM size limit exceeded. ERROR"  # what is still to come is never read: it breaks off
            piece = self.rfile.read(length)
            stream += piece
            if len(piece) < length:
                return b""  # the client broke off
        clamd.streams.append(len(stream))
        return clamd.replies.get(command) or clamd.verdict(bytes(stream))

    def _length(self) -> int:
        head = self.rfile.read(4)
        return int(struct.unpack("!I", head)[0]) if len(head) == 4 else 0
