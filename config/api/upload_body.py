"""The body of an upload as it comes in: never whole in memory, bounded also where it does not say how long it is."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from typing import Any

from django.conf import settings

from config.api import errors

MAX_BASE64_FILE_BYTES = 20 * 1024 * 1024
BESIDE_THE_FILE_BYTES = 1_000_000  # the other fields of a form or of a JSON body
# What is read and thrown away of a body that was refused: a caller that is still sending would not hear the answer.
DISCARDED_BYTES = 32 * 1024 * 1024
_PIECE_BYTES = 65_536


def most_bytes(content_type: str) -> int:
    """The longest body that an upload of this content type may have."""
    if content_type == "multipart/form-data":
        return max(settings.MEDIA_MAX_BYTES.values()) + BESIDE_THE_FILE_BYTES
    return 4 * -(-MAX_BASE64_FILE_BYTES // 3) + BESIDE_THE_FILE_BYTES


class UploadBody(io.RawIOBase):
    """A request's body, read from the web server piece by piece; `length` is None for one that comes in chunks."""

    def __init__(self, environ: Mapping[str, Any], *, limit: int) -> None:
        super().__init__()
        declared = environ.get("CONTENT_LENGTH") or ""
        chunked = not declared and "chunked" in environ.get("HTTP_TRANSFER_ENCODING", "").lower()
        self.length = None if chunked else int(declared) if declared.isdigit() else 0
        self._source = environ["wsgi.input"]
        self._limit = limit
        self._taken = 0
        self._ended = False

    @property
    def too_long(self) -> bool:
        """Whether it says itself that it is longer than it may be."""
        return self.length is not None and self.length > self._limit

    def read(self, size: int = -1) -> bytes:
        """The next bytes, or all of them. Raises PayloadTooLarge beyond the limit, MalformedRequest when it breaks off."""
        if size < 0:
            return b"".join(iter(lambda: self.read(_PIECE_BYTES), b""))
        most = self._limit + 1 if self.length is None else self.length
        wanted = min(size, most - self._taken)
        if self._ended or wanted <= 0:
            return b""
        read = self._take(wanted)
        if not read and self.length is not None:
            self._ended = True
            raise errors.MalformedRequest("The body broke off before it was whole.")
        self._ended = not read
        if self._taken > self._limit:
            raise errors.PayloadTooLarge(suggested_action="Send a smaller file.")
        return read

    def discard(self) -> None:
        """Throw the rest away, unless it is long."""
        rest = DISCARDED_BYTES if self.length is None else self.length - self._taken
        if rest > DISCARDED_BYTES:
            return
        with contextlib.suppress(errors.MalformedRequest):
            while rest > 0 and not self._ended and (read := self._take(min(rest, _PIECE_BYTES))):
                rest -= len(read)

    def _take(self, size: int) -> bytes:
        try:
            read: bytes = self._source.read(size)
        except Exception as error:  # the server's own classes for a caller that has gone and for chunks that are none
            self._ended = True
            raise errors.MalformedRequest("The body broke off, or its chunks cannot be read.") from error
        self._taken += len(read)
        return read
