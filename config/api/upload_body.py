"""The parser of upload bodies: JSON, or multipart/form-data (RFC 7578) whose file is written to disk as it arrives.

Forms are parsed more strictly than RFC 2046 requires: part names are unique, and no data follows the last boundary.
"""

from __future__ import annotations

import re
from email.message import Message
from email.utils import collapse_rfc2231_value
from typing import Any

from django.http import HttpRequest
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser

from config.api import errors
from config.api.request_body import parse_json
from config.api.uploads import FILE_PART, JSON_CONTENT_TYPE, MULTIPART_CONTENT_TYPE, FileBeingReceived, UploadTempFiles

MAX_FIELD_BYTES = 65_536
MAX_HEADER_BYTES = 1024
MAX_PARTS = 20
_PIECE_BYTES = 65_536
_BOUNDARY = re.compile(r"[ -~]{0,200}[!-~]")
_WELL_FORMED = "Send a well-formed form (RFC 7578): most HTTP libraries make one out of a dictionary."


def read_upload_fields(request: HttpRequest, spool: UploadTempFiles) -> Any:
    """Return the parsed, not yet validated fields of an upload's request body, including the file.

    Raises UnsupportedMediaType, MalformedRequest, PayloadTooLarge, and ValidationFailed for a repeated field or a file in
    a part other than `file`.
    """
    spool.is_form = request.content_type == MULTIPART_CONTENT_TYPE
    value = _read_form(request, spool) if spool.is_form else _read_json(request)
    if isinstance(value, dict):  # the serializer refuses anything else
        spool.fields = value
    return value


def _read_json(request: HttpRequest) -> Any:
    """Return the parsed JSON body of an upload; an empty body is {}."""
    beginning = request.read(1)
    if not beginning:
        return {}
    if request.content_type != JSON_CONTENT_TYPE:
        raise errors.UnsupportedMediaType(
            suggested_action=f"Send `Content-Type: {MULTIPART_CONTENT_TYPE}` or `{JSON_CONTENT_TYPE}`."
        )
    return parse_json(beginning + request.read())


def _read_form(request: HttpRequest, spool: UploadTempFiles) -> dict[str, Any]:
    boundary = (request.content_params or {}).get("boundary", "")
    if not _BOUNDARY.fullmatch(boundary):
        raise errors.MalformedRequest("The form's Content-Type names no boundary.", suggested_action=_WELL_FORMED)
    form = _Form(spool)
    try:
        _parse(request, boundary.encode(), form)
    except FormParserError as error:
        raise errors.MalformedRequest(f"The form cannot be read: {error}", suggested_action=_WELL_FORMED) from error
    return form.fields


def _parse(request: HttpRequest, boundary: bytes, form: _Form) -> None:
    """Parse the multipart body of an upload up to its final boundary. Raises FormParserError."""
    parser = form.parser(boundary)
    delimiter = b"\r\n--" + boundary
    # RFC 2046 forbids the boundary inside a part. The parser would process each occurrence byte by byte in Python.
    misused = re.compile(re.escape(delimiter) + rb"(?:[^\r-]|\r[^\n]|-[^-])")
    end, before = delimiter + b"--", b"\r\n"
    while piece := request.read(_PIECE_BYTES):
        seen = before + piece
        if misused.search(seen):
            raise FormParserError("its boundary occurs inside a part.")
        parser.write(piece)
        if form.ended:
            if (seen.partition(end)[2] + request.read(_PIECE_BYTES)).strip():
                raise FormParserError("it goes on after its end.")
            return
        before = seen[-len(end) :]
    raise FormParserError("it broke off before its last boundary.")


class _Form:
    """Collects the fields of an upload's multipart form while the parser reads the body."""

    def __init__(self, spool: UploadTempFiles) -> None:
        self.fields: dict[str, Any] = {}
        self.ended = False
        self._spool = spool
        self._parts = 0
        self._name = ""
        self._part: _Text | FileBeingReceived

    def parser(self, boundary: bytes) -> MultipartParser:
        """Return a multipart parser for an upload's request body, which adds each parsed form field to `fields`."""
        return MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin_part,
                "on_header_begin": self._begin_header,
                "on_header_field": self._add_to_header_name,
                "on_header_value": self._add_to_header_value,
                "on_header_end": self._end_header,
                "on_headers_finished": self._begin_content,
                "on_part_data": self._write_content,
                "on_part_end": self._end_part,
                "on_end": self._end,
            },
            max_header_size=MAX_HEADER_BYTES,
        )

    def _begin_part(self) -> None:
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise FormParserError("it has too many parts.")
        self._headers = Message()

    def _begin_header(self) -> None:
        self._header_name = self._header_value = b""

    def _add_to_header_name(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _add_to_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _end_header(self) -> None:
        self._headers[self._header_name.decode()] = _decoded(self._header_value, "a part's header")

    def _begin_content(self) -> None:
        name, filename = self._parameter("name"), self._parameter("filename")
        if name is None:
            raise FormParserError("a part has no name.")
        if filename and name != FILE_PART:
            raise errors.ValidationFailed.for_field(name[:200], f"The file is taken as `{FILE_PART}` alone.", "unknown_field")
        if name in self.fields:
            raise errors.ValidationFailed.for_field(name, "This field is given more than once.", "repeated")
        self._name = name
        self._part = self._spool.temporary_upload_file(filename or "") if name == FILE_PART else _Text(name)

    def _parameter(self, name: str) -> str | None:
        """Return a parameter, such as `filename`, of a Content-Disposition header in a multipart upload, or None."""
        try:
            value = self._headers.get_param(name, header="content-disposition")
            if value is None:
                return None
            text = collapse_rfc2231_value(value)
            text.encode()  # RFC 2231 values name their character set; some character sets decode to a lone surrogate
        except ValueError as error:
            raise FormParserError("a part's Content-Disposition cannot be decoded.") from error
        return text

    def _write_content(self, data: bytes, start: int, end: int) -> None:
        self._part.write(data[start:end])

    def _end_part(self) -> None:
        self.fields[self._name] = self._part.finish()

    def _end(self) -> None:
        self.ended = True


class _Text:
    """Collects the text of one field in an upload's multipart form, up to MAX_FIELD_BYTES."""

    def __init__(self, name: str) -> None:
        self._name = name[:200]
        self._content = b""

    def write(self, piece: bytes) -> None:
        """Add the next bytes to a text field of the multipart form. Raises PayloadTooLarge."""
        self._content += piece
        if len(self._content) > MAX_FIELD_BYTES:
            raise errors.PayloadTooLarge(
                f"The field {self._name} is longer than {MAX_FIELD_BYTES:,} bytes.", suggested_action="Shorten it."
            )

    def finish(self) -> str:
        """Return the value of a text field of the multipart form. Raises FormParserError for NUL or invalid UTF-8."""
        text = _decoded(self._content, f"the field {self._name}")
        if "\0" in text:
            raise FormParserError(f"the field {self._name} holds NUL.")
        return text


def _decoded(content: bytes, what: str) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise FormParserError(f"{what} is not UTF-8.") from error
