"""Request bodies that the web server may still be receiving, and a decoder for chunked transfer encoding.

The server (config/runtime) starts a request as soon as its headers have arrived, so that a request without a valid token
is refused before its body is read. Reading an incomplete body raises `BodyNotReceived`: the server then receives the body
without occupying a thread, and runs the request a second time.
"""

from __future__ import annotations

import io
import tempfile
from typing import IO, Any

from config.api import errors

MAX_BODY_BYTES = 1_000_000
MEMORY_BYTES = 65_536  # longer bodies are written to disk
MAX_LINE_BYTES = 8_190  # the line with a chunk's size, and each trailer
MAX_TRAILERS = 100


class BodyNotReceived(BaseException):
    """The exception when code reads a request body that has not fully arrived; `except Exception` does not catch it."""


class IncomingBody:
    """An incoming request body, stored while it arrives; the application then reads it as the file object `wsgi.input`.

    `length` is the Content-Length, None for a chunked body. `limit` is the most bytes that the application accepts.
    `notes` carries values from the first run of the request to the second. `fault` is the error that reads raise when the
    body cannot be received.
    """

    def __init__(self, length: int | None, folder: str) -> None:
        self.limit = MAX_BODY_BYTES
        self.notes: dict[str, Any] = {}
        self.fault: errors.ApiError | None = None
        self.received = 0
        self.length = length
        self._chunks = None if length is not None else ChunkDecoder()
        self._file: IO[bytes] = io.BytesIO()
        if length is None or length > MEMORY_BYTES:
            self._file = tempfile.SpooledTemporaryFile(MEMORY_BYTES, dir=folder)  # noqa: SIM115 (it outlives this call)

    @property
    def is_complete(self) -> bool:
        """Return whether the whole incoming request body was received."""
        return self._chunks.ended if self._chunks else self.received == self.length

    @property
    def is_too_long(self) -> bool:
        """Return whether the incoming request body, or its declared length, exceeds the limit."""
        return max(self.received, self.length or 0) > self.limit

    @property
    def needs_no_more_bytes(self) -> bool:
        """Return whether this IncomingBody can be read or refused now: it is complete, too long or invalid."""
        return self.is_complete or self.is_too_long or self.fault is not None

    def feed(self, data: bytes) -> bytes:
        """Store received bytes of an incoming body and return the bytes after the body; an invalid body sets `fault`."""
        try:
            if self._chunks:
                content, rest = self._chunks.decode(data)
            else:
                missing = (self.length or 0) - self.received
                content, rest = data[:missing], data[missing:]
            self._file.write(content)
        except errors.MalformedRequest as fault:
            self.fault = fault
            return b""
        except OSError:  # the disk is full
            self.fault = errors.ServiceUnavailable("There is not enough disk space for the body.")
            return b""
        self.received += len(content)
        if self.is_complete:
            self._file.seek(0)
        return rest

    def record_lost_connection(self) -> None:
        """Record that the client closed the connection before the end of the incoming request body."""
        if not self.is_complete:
            self.fault = errors.MalformedRequest("The connection ended before the whole body arrived.")

    def read(self, size: int = -1) -> bytes:
        """Read the next bytes of an incoming body. Raises BodyNotReceived if incomplete, an ApiError if it is refused.

        The ApiError is PayloadTooLarge or `fault`.
        """
        self._require_ready()
        return self._file.read(size)

    def readline(self, size: int = -1) -> bytes:
        """Read the next line of an incoming body. Raises BodyNotReceived if it is incomplete, an ApiError if it is refused.

        The ApiError is PayloadTooLarge or `fault`.
        """
        self._require_ready()
        return self._file.readline(size)

    def _require_ready(self) -> None:
        if self.fault:
            raise self.fault
        if self.is_too_long:
            raise errors.PayloadTooLarge()
        if not self.is_complete:
            raise BodyNotReceived

    def close(self) -> None:
        """Delete the stored data of the incoming request body."""
        self._file.close()


class ChunkDecoder:
    """Decodes an incoming request body in chunked encoding (RFC 9112); extensions and trailers are ignored."""

    def __init__(self) -> None:
        self.ended = False
        self._buffer = bytearray()
        self._missing = 0  # bytes of the current chunk that have not arrived, its line end included
        self._trailers: int | None = None

    def decode(self, data: bytes) -> tuple[bytes, bytes]:
        """Decode chunks of an incoming body; return their content and any bytes after the end. Raises MalformedRequest."""
        self._buffer += data
        content = bytearray()
        while not self.ended and (self._take_content(content) if self._missing else self._take_line()):
            pass
        rest = bytes(self._buffer) if self.ended else b""
        return bytes(content), rest

    def _take_content(self, content: bytearray) -> bool:
        """Decode the content of a chunk of an incoming body into `content`; return False if more data must arrive first."""
        taken = self._buffer[: max(0, self._missing - 2)]
        content += taken
        del self._buffer[: len(taken)]
        self._missing -= len(taken)
        if self._missing > 2 or len(self._buffer) < 2:
            return False
        if self._buffer[:2] != b"\r\n":
            raise _bad_chunks()
        del self._buffer[:2]
        self._missing = 0
        return True

    def _take_line(self) -> bool:
        """Read the size line of a chunk, or a trailer line, of an incoming body; return False if more data must arrive."""
        end = self._buffer.find(b"\r\n", 0, MAX_LINE_BYTES + 2)
        if end < 0:
            if len(self._buffer) > MAX_LINE_BYTES + 1:
                raise _bad_chunks()
            return False
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 2]
        if self._trailers is None:
            size = line.partition(b";")[0].rstrip(b" \t")
            if not size or len(size) > 15 or size.strip(b"0123456789abcdefABCDEF"):
                raise _bad_chunks()
            self._missing = int(size, 16) + 2
            if self._missing == 2:
                self._missing, self._trailers = 0, 0
        else:
            self._trailers += 1
            self.ended = not line
            if self._trailers > MAX_TRAILERS:
                raise _bad_chunks()
        return True


def _bad_chunks() -> errors.MalformedRequest:
    return errors.MalformedRequest("The body is not validly chunked.", suggested_action="Send well-formed HTTP/1.1.")
