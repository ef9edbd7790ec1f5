"""Reading the message of a request to Discord: JSON or multipart/form-data, with the documented limit of each field."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.message import Message
from email.parser import BytesParser
from typing import Any

from tests.fakes.http_server import ReceivedRequest

MAX_CONTENT = 2000  # code points
MAX_USERNAME = 80
MAX_THREAD_NAME = 100
MAX_DESCRIPTION = 1024
MAX_QUESTION = 300
MAX_ANSWERS = 10
MAX_ANSWER = 55
MAX_HOURS = 32 * 24
MAX_FILES = 10
MAX_FILE_BYTES = 10 * 1024 * 1024
MAX_REQUEST_BYTES = 25 * 1024 * 1024
SETTABLE_FLAGS = 1 << 2 | 1 << 12 | 1 << 15
TOO_LARGE = "Request entity too large"


class DiscordError(Exception):
    """An error `{"code": …, "message": …}` of Discord with a status; errors of single fields are in `errors`."""

    def __init__(self, status: int, code: int, message: str, errors: Mapping[str, Any] | None = None) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.body: dict[str, Any] = {"message": message, "code": code, **({"errors": errors} if errors else {})}


@dataclass(frozen=True)
class ReadMessage:
    """A valid Discord message; each attachment has filename, description, content_type, size and data."""

    content: str
    username: str | None
    thread_name: str | None
    flags: int
    mentions_everyone: bool
    attachments: list[dict[str, Any]]
    poll: dict[str, Any] | None


@dataclass(frozen=True)
class Part:
    """A part of a multipart request to Discord."""

    name: str
    filename: str | None
    content_type: str
    data: bytes


def read_message(request: ReceivedRequest) -> ReadMessage:
    """Read the Discord message of a request. Raises DiscordError."""
    if len(request.body) > MAX_REQUEST_BYTES:
        raise DiscordError(413, 40005, TOO_LARGE)
    kind = request.headers.get("content-type", "")
    if kind.partition(";")[0] == "application/json":
        return _checked(_json_object(request.body), {})
    if kind.startswith("multipart/form-data"):
        return _checked(*_form(read_parts(kind, request.body)))
    raise _form_error((), "CONTENT_TYPE_INVALID", 'Expected "Content-Type" header to be one of {…}.')


def read_parts(content_type: str, body: bytes) -> list[Part]:
    """Read the parts of a multipart request to Discord. Raises DiscordError for an incomplete one."""
    boundary = re.fullmatch(r'multipart/form-data; boundary="?([\w\'()+,./:=? -]{1,70})"?', content_type)
    if boundary is None:
        raise DiscordError(400, 50035, "Invalid Form Body")
    opening, *chunks, closing = (b"\r\n" + body).split(b"\r\n--" + boundary[1].encode())
    if opening or closing not in (b"--", b"--\r\n"):
        raise DiscordError(400, 50035, "Invalid Form Body")
    return [_part(chunk) for chunk in chunks]


def _part(chunk: bytes) -> Part:
    head, blank, data = chunk.removeprefix(b"\r\n").partition(b"\r\n\r\n")
    headers: Message = BytesParser().parsebytes(head + blank, headersonly=True)
    name = headers.get_param("name", header="content-disposition")
    if not blank or headers.get_content_disposition() != "form-data" or not isinstance(name, str):
        raise DiscordError(400, 50035, "Invalid Form Body")
    return Part(name, headers.get_filename(), headers.get_content_type(), data)


def _form(parts: list[Part]) -> tuple[dict[str, Any], dict[int, Part]]:
    """Read the JSON of `payload_json` and the files, by the numbers in their names, of a request to Discord."""
    fields: dict[str, Any] = {}
    files: dict[int, Part] = {}
    for part in parts:
        numbered = re.fullmatch(r"files\[(\d+)\]", part.name)
        if part.name == "payload_json":
            fields = _json_object(part.data)
        elif numbered and part.filename and int(numbered[1]) not in files:
            files[int(numbered[1])] = part
        else:
            raise DiscordError(400, 50035, "Invalid Form Body")
    if len(files) > MAX_FILES:
        raise DiscordError(400, 30015, "Maximum number of attachments in a message reached (10)")
    if any(len(file.data) > MAX_FILE_BYTES for file in files.values()):
        raise DiscordError(413, 40005, TOO_LARGE)
    return fields, files


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError as error:
        raise DiscordError(400, 50109, "The request body contains invalid JSON.") from error
    if not isinstance(value, dict):
        raise _form_error((), "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
    return value


def _checked(fields: Mapping[str, Any], files: Mapping[int, Part]) -> ReadMessage:
    content = _text(fields, "content", 0, MAX_CONTENT) or ""
    username = _text(fields, "username", 1, MAX_USERNAME)
    for word in ("clyde", "discord"):
        if word in (username or "").lower():
            raise _form_error(("username",), "USERNAME_INVALID_CONTAINS", f'Username cannot contain "{word}"')
    thread_name = _text(fields, "thread_name", 1, MAX_THREAD_NAME)
    flags = fields.get("flags", 0)
    if not isinstance(flags, int) or flags & ~SETTABLE_FLAGS:
        raise _form_error(("flags",), "NUMBER_TYPE_COERCE", f'Value "{flags}" is not int.')
    poll = _poll(fields["poll"]) if fields.get("poll") is not None else None
    if not content.strip() and not files and poll is None:
        raise DiscordError(400, 50006, "Cannot send an empty message")
    allowed = fields.get("allowed_mentions", {"parse": ["everyone", "users", "roles"]}).get("parse", [])
    return ReadMessage(
        content=content,
        username=username,
        thread_name=thread_name,
        flags=flags,
        mentions_everyone="@everyone" in content and "everyone" in allowed,
        attachments=_attachments(fields.get("attachments", []), files),
        poll=poll,
    )


def _poll(given: Mapping[str, Any]) -> dict[str, Any]:
    """Read the poll of a Discord message, as the Poll Resource documents its creation."""
    question = _text(given["question"], "text", 1, MAX_QUESTION, ("poll", "question"))
    answers = given.get("answers") or []
    if not 1 <= len(answers) <= MAX_ANSWERS:
        message = f"Must be between 1 and {MAX_ANSWERS} in length."
        raise _form_error(("poll", "answers"), "BASE_TYPE_BAD_LENGTH", message)
    texts = [
        _text(answer["poll_media"], "text", 1, MAX_ANSWER, ("poll", "answers", str(index), "poll_media"))
        for index, answer in enumerate(answers)
    ]
    hours = given.get("duration", 24)
    if not isinstance(hours, int) or not 1 <= hours <= MAX_HOURS:
        message = f"int value should be less than or equal to {MAX_HOURS}."
        raise _form_error(("poll", "duration"), "NUMBER_TYPE_MAX", message)
    return {
        "question": {"text": question},
        "answers": [{"answer_id": number, "poll_media": {"text": text}} for number, text in enumerate(texts, 1)],
        "expiry": (datetime.now(UTC) + timedelta(hours=hours)).isoformat(),
        "allow_multiselect": bool(given.get("allow_multiselect", False)),
        "layout_type": 1,
    }


def _attachments(described: list[dict[str, Any]], files: Mapping[int, Part]) -> list[dict[str, Any]]:
    """The files of a Discord message with their descriptions in `attachments`, which refers to them by number."""
    by_number = {}
    for index, one in enumerate(described):
        number = int(one["id"])
        if number not in files:
            raise _form_error(("attachments", str(index)), "ATTACHMENT_NOT_FOUND", f"Attachment {number} not found.")
        _text(one, "description", 0, MAX_DESCRIPTION, ("attachments", str(index)))
        by_number[number] = one
    return [
        {
            "filename": by_number.get(number, {}).get("filename", file.filename),
            "description": by_number.get(number, {}).get("description"),
            "content_type": file.content_type,
            "size": len(file.data),
            "data": file.data,
        }
        for number, file in sorted(files.items())
    ]


def _text(fields: Mapping[str, Any], name: str, least: int, most: int, path: tuple[str, ...] = ()) -> str | None:
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise _form_error((*path, name), "STRING_TYPE_CONVERT", f'Could not interpret "{value}" as string.')
    if len(value) > most:
        raise _form_error((*path, name), "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length.")
    if len(value) < least:
        raise _form_error((*path, name), "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length.")
    return value


def _form_error(path: tuple[str, ...], code: str, message: str) -> DiscordError:
    errors: dict[str, Any] = {"_errors": [{"code": code, "message": message}]}
    for key in reversed(path):
        errors = {key: errors}
    return DiscordError(400, 50035, "Invalid Form Body", errors)
