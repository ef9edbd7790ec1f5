"""Uploaded files: streamed to this machine's disk as they are received, and deleted when the request ends.

A client sends a file as the part `file` of multipart/form-data, or in JSON as base64 or as a URL
(config/api/upload_body.py). The operation gets an Upload in each case.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from django.conf import settings

from config.api import errors
from config.api.serializers import StrictSerializer

logger = logging.getLogger(__name__)
JSON = "application/json"
FILE_PART = "file"
HEAD_BYTES = 65_536  # bytes to receive before the kind of file is detected


@dataclass(frozen=True)
class UploadRules:
    """The upload formats of an API operation: `form` is the multipart serializer, `shapes` are the JSON alternatives.

    The operation's body serializer validates all of them. `most_bytes` takes the path of a partly received file and returns
    the maximum size for its kind of file; for None it returns the maximum of all kinds.
    """

    form: type[StrictSerializer]
    shapes: tuple[type[StrictSerializer], ...]
    mime_types: tuple[str, ...]
    most_bytes: Callable[[Path | None], int]


@dataclass(frozen=True)
class Upload:
    """A completely received file on this machine's disk. `filename` is the caller's name for it, never used as a path."""

    path: Path
    filename: str = field(repr=False)
    size_bytes: int
    sha256: str

    def __str__(self) -> str:
        """Return the file's SHA-256, by which the file is compared in requests with an Idempotency-Key."""
        return self.sha256

    @classmethod
    def of(cls, path: Path, filename: str) -> Self:
        """Return an Upload for the existing file at `path`, with its size and SHA-256."""
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return cls(path, filename, path.stat().st_size, digest)


class UploadInProgress:
    """An upload that is being written to disk; its first bytes determine the kind of file and so its maximum size."""

    def __init__(self, file: IO[bytes], filename: str, most_bytes: Callable[[Path | None], int]) -> None:
        self._file, self._path, self._filename = file, Path(file.name), filename
        self._most_bytes = most_bytes
        self._limit = most_bytes(None)
        self._digest = hashlib.sha256()
        self._size = 0

    def write(self, piece: bytes) -> int:
        """Add the next bytes of the upload. Raises PayloadTooLarge once it exceeds the limit for its kind of media."""
        before, self._size = self._size, self._size + len(piece)
        self._digest.update(piece)
        with _having_room():
            self._file.write(piece)
            if before < HEAD_BYTES <= self._size:
                self._file.flush()
                self._limit = self._most_bytes(self._path)
        if self._size > self._limit:
            raise too_large(self._limit)
        return len(piece)

    def finish(self) -> Upload:
        """Close the file and return it as an Upload."""
        with _having_room():
            self._file.close()
        return Upload(self._path, self._filename, self._size, self._digest.hexdigest())


@contextlib.contextmanager
def _having_room() -> Iterator[None]:
    """Raise ServiceUnavailable if the upload cannot be written, for example because the disk is full."""
    try:
        yield
    except OSError as error:
        logger.error("An upload cannot be written to %s: %s", settings.FILE_UPLOAD_TEMP_DIR, error)
        raise errors.ServiceUnavailable("There is no room for the file at the moment.") from error


def too_large(limit: int) -> errors.PayloadTooLarge:
    """Return the error for a file that is larger than the `limit` for its kind of file."""
    return errors.PayloadTooLarge(
        f"A file of this kind may have {limit:,} bytes.", suggested_action="Send a smaller or more compressed file."
    )


class Spool:
    """The temporary files of one request's upload, in FILE_UPLOAD_TEMP_DIR; deleted when the `with` block ends.

    `fields` is the parsed, unvalidated form or JSON object, from which the `dry_run` flag of an invalid request is read.
    """

    def __init__(self, most_bytes: Callable[[Path | None], int] | None) -> None:
        self.fields: dict[str, Any] = {}
        self.is_form = False
        self._most_bytes = most_bytes
        self._files = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._files.close()

    def begin(self, filename: str) -> UploadInProgress:
        """Create an empty temporary file, readable only by the service's user, and return it for writing."""
        if self._most_bytes is None:
            raise TypeError("This operation takes no files.")
        with _having_room():
            file = tempfile.NamedTemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR, prefix="upload-", delete=False)  # noqa: SIM115
        self._files.callback(Path(file.name).unlink, missing_ok=True)
        self._files.callback(file.close)
        return UploadInProgress(file, filename, self._most_bytes)

    def keep(self, content: bytes, filename: str) -> Upload:
        """Write `content` to a temporary file and return it as an Upload."""
        file = self.begin(filename)
        file.write(content)
        return file.finish()
