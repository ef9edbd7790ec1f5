"""File uploads in the HTML forms of dashboard pages.

Only pages declared with `files` accept them, and only after authentication (workspaces/workspace_page.py). All other pages
discard uploaded files, so that they cannot be used to fill the disk.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import TemporaryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile, TemporaryFileUploadHandler
from django.http import HttpRequest

from config.api.errors import PayloadTooLarge
from config.api.upload_limits import FORM, most_bytes
from config.api.uploads import Upload


class NoFiles(FileUploadHandler):
    """Upload handler that reads and discards all uploaded files; the default in settings.FILE_UPLOAD_HANDLERS."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        raise SkipFile

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        return None

    def file_complete(self, file_size: int) -> None:
        return None


def take_files(request: HttpRequest) -> None:
    """Accept file uploads in this request; call it before the body is read. Raises PayloadTooLarge."""
    declared = request.META.get("CONTENT_LENGTH") or "0"
    if not declared.isdecimal() or int(declared) > most_bytes(FORM):
        raise PayloadTooLarge(
            "The files are larger than can be sent at once.", suggested_action="Send fewer or smaller files."
        )
    request.upload_handlers = [TemporaryFileUploadHandler(request)]


def files_of(request: HttpRequest, name: str) -> list[Upload]:
    """Return the uploaded files of a form field as Uploads; the files are deleted when the request ends."""
    sent = [file for file in request.FILES.getlist(name) if isinstance(file, TemporaryUploadedFile)]
    return [Upload.of(Path(file.temporary_file_path()), file.name or "") for file in sent]
