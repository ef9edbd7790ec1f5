"""Uploaded files: streamed to this machine's disk as they are received, and deleted when the request ends.

A client sends a file as the part `file` of multipart/form-data, or in JSON as base64 or as a URL
(config/api/upload_body.py). The operation gets a ReceivedFile in each case.
Of the dashboard's pages only those declared with `files` accept files, and only after authentication
(workspaces/workspace_page.py). All others discard them, so that they cannot be used to fill the disk.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import logging
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import IO, Any, Self

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile, TemporaryFileUploadHandler
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_noop
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from config.api import errors
from config.api.serializers import StrictSerializer

logger = logging.getLogger(__name__)
JSON_CONTENT_TYPE = "application/json"
MULTIPART_CONTENT_TYPE = "multipart/form-data"
FILE_PART = "file"
HEAD_BYTES = 65_536  # bytes to receive before the kind of file is detected
MAX_BASE64_FILE_BYTES = 20 * 1024 * 1024
MAX_BASE64_LENGTH = 4 * -(-MAX_BASE64_FILE_BYTES // 3)
OTHER_FIELDS_BYTES = 1_000_000  # allowance for the other fields of a form or JSON body


def max_upload_body_bytes_by_content_type(content_type: str) -> int:
    """Return how many bytes the whole request body of an uploaded file may have, for this content type."""
    file_bytes = max(settings.MEDIA_MAX_BYTES.values()) if content_type == MULTIPART_CONTENT_TYPE else MAX_BASE64_LENGTH
    return file_bytes + OTHER_FIELDS_BYTES


@dataclass(frozen=True)
class UploadRules:
    """The rules of an API operation for uploaded files: MIME types, maximum sizes, and serializers of both body formats.

    `form_serializer` is the serializer for multipart, `json_serializers` are those for JSON; the operation's body serializer
    validates all of them. `max_bytes_by_path` takes the path of a partly received file and returns the maximum size for its
    kind of file; for None it returns the maximum of all kinds.
    """

    form_serializer: type[StrictSerializer]
    json_serializers: tuple[type[StrictSerializer], ...]
    mime_types: tuple[str, ...]
    max_bytes_by_path: Callable[[Path | None], int]


@dataclass(frozen=True)
class ReceivedFile:
    """An uploaded file that was received completely and is stored in a temporary file on this machine's disk.

    `filename` is the client's name for the file; never use it as a path.
    """

    path: Path
    filename: str = field(repr=False)
    size_bytes: int
    sha256: str

    def __str__(self) -> str:
        """Return this uploaded file's SHA-256, which stands for the file when a repeated upload is compared."""
        return self.sha256

    @classmethod
    def from_path(cls, path: Path, filename: str) -> Self:
        """Return the ReceivedFile for an existing file at `path`, with its size and SHA-256."""
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return cls(path, filename, path.stat().st_size, digest)


class FileBeingReceived:
    """A file in a request's body that is written to disk as it arrives; its first bytes determine its size limit."""

    def __init__(self, file: IO[bytes], filename: str, max_bytes_by_path: Callable[[Path | None], int]) -> None:
        self._file, self._path, self._filename = file, Path(file.name), filename
        self._most_bytes = max_bytes_by_path
        self._limit = max_bytes_by_path(None)
        self._digest = hashlib.sha256()
        self._size = 0

    def write(self, piece: bytes) -> int:
        """Write the next bytes of this uploaded file to disk. Raises PayloadTooLarge if it exceeds the limit for its type."""
        before, self._size = self._size, self._size + len(piece)
        self._digest.update(piece)
        with _disk_errors():
            self._file.write(piece)
            if before < HEAD_BYTES <= self._size:
                self._file.flush()
                self._limit = self._most_bytes(self._path)
        if self._size > self._limit:
            raise too_large_error(self._limit)
        return len(piece)

    def finish(self) -> ReceivedFile:
        """Close the file of an upload that was received completely, and return it as a ReceivedFile."""
        with _disk_errors():
            self._file.close()
        return ReceivedFile(self._path, self._filename, self._size, self._digest.hexdigest())


@contextlib.contextmanager
def _disk_errors() -> Iterator[None]:
    """Return a context manager that raises ServiceUnavailable if an uploaded file cannot be written, as on a full disk."""
    try:
        yield
    except OSError as error:
        logger.error("An upload cannot be written to %s: %s", settings.FILE_UPLOAD_TEMP_DIR, error)
        raise errors.ServiceUnavailable(gettext_noop("There is no room for the file at the moment.")) from error


def too_large_error(limit: int) -> errors.PayloadTooLarge:
    """Return the API error for an uploaded file that is larger than `limit`, the maximum size for its type."""
    return errors.PayloadTooLarge(
        f"A file of this kind may have {limit:,} bytes.",
        suggested_action=gettext_noop("Send a smaller or more compressed file."),
    )


class UploadTempFiles(contextlib.ExitStack[None]):
    """The temporary files of the uploads in one request; they are deleted when the `with` block ends.

    `fields` is the parsed, unvalidated form or JSON object, from which the `dry_run` flag of an invalid request is read.
    """

    def __init__(self, max_bytes_by_path: Callable[[Path | None], int] | None) -> None:
        super().__init__()
        self.fields: dict[str, Any] = {}
        self.is_form = False
        self._most_bytes = max_bytes_by_path

    def temporary_upload_file(self, filename: str) -> FileBeingReceived:
        """Begin to write an upload to a new temporary file, which is deleted when the `with` block ends.

        Raises TypeError if the operation takes no files.
        """
        if self._most_bytes is None:
            raise TypeError("This operation takes no files.")
        with _disk_errors():
            file = tempfile.NamedTemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR, prefix="upload-", delete=False)  # noqa: SIM115
        self.callback(Path(file.name).unlink, missing_ok=True)
        self.callback(file.close)
        return FileBeingReceived(file, filename, self._most_bytes)

    def write_temp_file(self, content: bytes, filename: str) -> ReceivedFile:
        """Write `content` to a temporary file, and return that file as a ReceivedFile."""
        file = self.temporary_upload_file(filename)
        file.write(content)
        return file.finish()


def purge_upload_temp_files(older_than: timedelta) -> int:
    """Remove the temporary files of uploads whose process was killed; returns the number of removed files."""
    before = (timezone.now() - older_than).timestamp()
    removed = 0
    for path in Path(settings.FILE_UPLOAD_TEMP_DIR).iterdir():
        with contextlib.suppress(FileNotFoundError):  # the upload's request has just ended
            if path.is_file() and path.stat().st_mtime < before:
                path.unlink()
                removed += 1
    return removed


@extend_schema_field({"type": "string", "format": "binary"})
class MultipartFileField(serializers.Field):
    """A serializer field for an uploaded file in a multipart form."""

    def to_internal_value(self, data: Any) -> ReceivedFile:
        if not isinstance(data, ReceivedFile):
            raise serializers.ValidationError("Must be a file.", code="wrong_type")
        return data


@extend_schema_field(
    {"type": "string", "contentEncoding": "base64", "pattern": "^[A-Za-z0-9+/]+={0,2}$", "maxLength": MAX_BASE64_LENGTH}
)
class Base64FileField(serializers.Field):
    """A serializer field for an uploaded file in a JSON body: base64 with padding and without line breaks."""

    def to_internal_value(self, data: Any) -> ReceivedFile:
        if not isinstance(data, str):
            raise serializers.ValidationError("Must be a string.", code="wrong_type")
        try:
            content = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError) as error:
            raise serializers.ValidationError("Must be base64, padded and without blanks.", code="invalid") from error
        if not content:
            raise serializers.ValidationError("Must not be empty.", code="blank")
        if len(content) > MAX_BASE64_FILE_BYTES:
            raise errors.PayloadTooLarge(
                f"A file in base64 may have {MAX_BASE64_FILE_BYTES:,} bytes.",
                suggested_action="Send it as a form.",
            )
        upload: ReceivedFile = self.context["spool"].write_temp_file(content, "")
        return upload


class DiscardFilesUploadHandler(FileUploadHandler):
    """Django's upload handler for all requests that may not upload files: it discards any file."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        raise SkipFile

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        return None

    def file_complete(self, file_size: int) -> None:
        return None


def allow_file_uploads_in_request(request: HttpRequest) -> None:
    """Accept uploaded files in this request; call this before the body is read. Raises PayloadTooLarge."""
    declared = request.META.get("CONTENT_LENGTH") or "0"
    if not declared.isdecimal() or int(declared) > max_upload_body_bytes_by_content_type(MULTIPART_CONTENT_TYPE):
        raise errors.PayloadTooLarge(
            gettext_noop("The files are larger than can be sent at once."),
            suggested_action=gettext_noop("Send fewer or smaller files."),
        )
    request.upload_handlers = [TemporaryFileUploadHandler(request)]


def uploaded_files_in_field(request: HttpRequest, name: str) -> list[ReceivedFile]:
    """Return the files that were uploaded in a form field; they exist until the request ends."""
    sent = [file for file in request.FILES.getlist(name) if isinstance(file, TemporaryUploadedFile)]
    return [ReceivedFile.from_path(Path(file.temporary_file_path()), file.name or "") for file in sent]
