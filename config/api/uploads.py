"""Files that callers send: streamed to this machine's disk while they come in, and gone when the request is over.

An upload comes as multipart/form-data, whose part `file` is the file, or as JSON, which holds it in base64 or names an
address. Either way the operation gets one Upload. The parts of a form are told apart by the parser inside Django's
MultiPartParser, which itself would pass over parts without a name and cut off what ends too early.
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
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest
from django.http.multipartparser import (
    FILE,
    RAW,
    ChunkIter,
    LazyStream,
    MultiPartParser,
    MultiPartParserError,
    Parser,
)
from django.utils.encoding import force_str

from config.api import errors
from config.api.request_body import parse_json
from config.api.serializers import StrictSerializer
from config.api.upload_limits import FORM

logger = logging.getLogger(__name__)
JSON = "application/json"
FILE_PART = "file"
HEAD_BYTES = 65_536  # what has to be there of a file before its kind is looked at
MAX_FIELD_BYTES = 65_536
MAX_PARTS = 20


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
        """Take the next bytes. Raises PayloadTooLarge as soon as it is longer than its kind may be."""
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


def read_fields(request: HttpRequest, spool: Spool) -> Any:
    """The fields of an upload's body, its file among them; nothing of them is checked yet but their form.

    Raises UnsupportedMediaType, MalformedRequest, PayloadTooLarge, ValidationFailed for more than one file or an unknown.
    """
    spool.is_form = request.content_type == FORM
    value = _read_form(request, spool) if spool.is_form else _read_json(request)
    if isinstance(value, dict):  # the serializer refuses anything else
        spool.fields = value
    return value


def _read_json(request: HttpRequest) -> Any:
    """The JSON value; no body at all is an object without fields, as everywhere."""
    beginning = request.read(1)
    if not beginning:
        return {}
    if request.content_type != JSON:
        raise errors.UnsupportedMediaType(suggested_action=f"Send `Content-Type: {FORM}` or `{JSON}`.")
    return parse_json(beginning + request.read())


def _read_form(request: HttpRequest, spool: Spool) -> dict[str, Any]:
    boundary = (request.content_params or {}).get("boundary", "")
    if not MultiPartParser.boundary_re.fullmatch(boundary):
        raise errors.MalformedRequest("The form's Content-Type names no boundary.", suggested_action=_WELL_FORMED)
    fields: dict[str, Any] = {}
    try:
        for name, filename, part in _parts(request, boundary):
            if name in fields:
                raise errors.ValidationFailed.of(name, "This field is given more than once.", "repeated")
            fields[name] = _read_file(part, filename, spool) if name == FILE_PART else _read_text(name, part)
    except (MultiPartParserError, SuspiciousOperation) as error:
        raise errors.MalformedRequest(f"The form cannot be read: {error}", suggested_action=_WELL_FORMED) from error
    return fields


def _parts(request: HttpRequest, boundary: str) -> Iterator[tuple[str, str, LazyStream]]:
    """(name, filename, content) of each part, none passed over, to the form's very end."""
    ended = False
    for number, (kind, headers, part) in enumerate(Parser(LazyStream(ChunkIter(request)), boundary.encode())):
        if ended or number > MAX_PARTS:
            raise MultiPartParserError("it goes on after its end." if ended else "it has too many parts.")
        if kind == RAW:  # what stands before the first boundary and behind the last
            ended = part.read(2) == b"--"
            if number and not ended:
                raise MultiPartParserError("a part has no Content-Disposition.")
            for _ in part:
                pass
            continue
        told = headers["content-disposition"][1]
        if "name" not in told:
            raise MultiPartParserError("a part has no name.")
        name, filename = force_str(told["name"]), force_str(told.get("filename", ""))
        if kind == FILE and name != FILE_PART:
            raise errors.ValidationFailed.of(name[:200], f"The file is taken as `{FILE_PART}` alone.", "unknown_field")
        yield name, filename, part
    if not ended:
        raise MultiPartParserError("it broke off before its last boundary.")


def _read_file(part: LazyStream, filename: str, spool: Spool) -> Upload:
    file = spool.begin(filename)
    for piece in part:
        file.write(piece)
    return file.finish()


def _read_text(name: str, part: LazyStream) -> str:
    content = part.read(MAX_FIELD_BYTES + 1)
    if len(content) > MAX_FIELD_BYTES:
        raise errors.PayloadTooLarge(
            f"The field {name[:200]} is longer than {MAX_FIELD_BYTES:,} bytes.", suggested_action="Shorten it."
        )
    try:
        text: str = content.decode()
    except UnicodeDecodeError as error:
        raise MultiPartParserError(f"the field {name[:200]} is not UTF-8.") from error
    if "\0" in text:
        raise MultiPartParserError(f"the field {name[:200]} holds NUL.")
    return text


_WELL_FORMED = "Send a well-formed form (RFC 7578): most HTTP libraries make one out of a dictionary."
