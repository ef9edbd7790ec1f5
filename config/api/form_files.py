"""Files in the forms of pages. A page takes them once it knows who sends them (workspaces/workspace_page.py); nowhere else
are they kept, so that nobody fills the disk by way of a form that asks for none."""

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
    """settings.FILE_UPLOAD_HANDLERS: what a form brings as a file is read off the line and thrown away."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        raise SkipFile

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes | None:
        return None

    def file_complete(self, file_size: int) -> None:
        return None


def take_files(request: HttpRequest) -> None:
    """Let this request's form bring files, before anything of it is read. Raises PayloadTooLarge."""
    declared = request.META.get("CONTENT_LENGTH") or "0"
    if not declared.isdecimal() or int(declared) > most_bytes(FORM):
        raise PayloadTooLarge(
            "The files are larger than can be sent at once.", suggested_action="Send fewer or smaller files."
        )
    request.upload_handlers = [TemporaryFileUploadHandler(request)]


def files_of(request: HttpRequest, name: str) -> list[Upload]:
    """The files of a form's field; they are gone when the request is over."""
    sent = [file for file in request.FILES.getlist(name) if isinstance(file, TemporaryUploadedFile)]
    return [Upload.of(Path(file.temporary_file_path()), file.name or "") for file in sent]
