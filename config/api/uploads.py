"""Files that callers send: streamed to this machine's disk while they come in, and gone when the request is over.

An upload comes as multipart/form-data, whose part `file` is the file, or as JSON, which holds it in base64 or names an
address (config/api/upload_body.py). Either way the operation gets one Upload.
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
HEAD_BYTES = 65_536  # what has to be there of a file before its kind is looked at


@dataclass(frozen=True)
class UploadRules:
    """How an operation takes a file of `mime_types`: as `form`, or in JSON as one of `shapes` (its body checks them all).

    `most_bytes` is given the beginning of a file on disk and says how long a file of its kind may be; given None, how
    long any.
    """

    form: type[StrictSerializer]
    shapes: tuple[type[StrictSerializer], ...]
    mime_types: tuple[str, ...]
    most_bytes: Callable[[Path | None], int]


@dataclass(frozen=True)
class Upload:
    """A whole file on this machine's disk. `filename` is what the caller calls it: a label that never names a path."""

    path: Path
    filename: str = field(repr=False)
    size_bytes: int
    sha256: str

    def __str__(self) -> str:
        """What tells the requests of one Idempotency-Key apart."""
        return self.sha256

    @classmethod
    def of(cls, path: Path, filename: str) -> Self:
        """The file at `path` as it stands now."""
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return cls(path, filename, path.stat().st_size, digest)


class UploadInProgress:
    """A file that is being written; the first bytes decide how long it may become."""

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
        """The whole file."""
        with _having_room():
            self._file.close()
        return Upload(self._path, self._filename, self._size, self._digest.hexdigest())


@contextlib.contextmanager
def _having_room() -> Iterator[None]:
    """A disk that is full, or no folder for incoming files, is the service's own trouble and passes."""
    try:
        yield
    except OSError as error:
        logger.error("An upload cannot be written to %s: %s", settings.FILE_UPLOAD_TEMP_DIR, error)
        raise errors.ServiceUnavailable("There is no room for the file at the moment.") from error


def too_large(limit: int) -> errors.PayloadTooLarge:
    """The refusal of a file that is longer than files of its kind may be."""
    return errors.PayloadTooLarge(
        f"A file of this kind may have {limit:,} bytes.", suggested_action="Send a smaller or more compressed file."
    )


class Spool:
    """The files of one request, in the folder for incoming ones; they go when the `with` block is left, however it is.

    `fields` is the form or JSON object as it was read, unchecked, for whoever asks what a refused request wanted.
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
        """A new, empty file, readable by the service alone."""
        if self._most_bytes is None:
            raise TypeError("This operation takes no files.")
        with _having_room():
            file = tempfile.NamedTemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR, prefix="upload-", delete=False)  # noqa: SIM115
        self._files.callback(Path(file.name).unlink, missing_ok=True)
        self._files.callback(file.close)
        return UploadInProgress(file, filename, self._most_bytes)

    def keep(self, content: bytes, filename: str) -> Upload:
        """A file of these bytes."""
        file = self.begin(filename)
        file.write(content)
        return file.finish()
