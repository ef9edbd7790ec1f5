"""Reading requests to the Mastodon stand-in, and its error responses.

Source: docs.joinmastodon.org, client/intro (parameters), entities/Error.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs

from requests_toolbelt import MultipartDecoder

from tests.fakes.http_server import Answer, ReceivedRequest

_ID = re.compile(r"(?<=/)\d+(?=/|$)")
_PARAMETER = re.compile(r';\s*(name|filename)="([^"]*)"')


class Refusal(Exception):
    """An error response of Mastodon: `{"error": text}` with an HTTP status."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status = status
        self.error = error

    def answer(self) -> Answer:
        """The HTTP response of the Mastodon error."""
        return Answer.of_json({"error": self.error}, self.status)


def call_of(request: ReceivedRequest) -> str:
    """The method of Mastodon's API, such as `GET /api/v1/media/:id`."""
    return f"{request.method} {_ID.sub(':id', request.path.rstrip('/'))}"


def bearer_of(request: ReceivedRequest) -> str:
    """The bearer token of a request to Mastodon; empty without one."""
    return request.headers.get("authorization", "").removeprefix("Bearer ")


def id_in(request: ReceivedRequest) -> str:
    """The id in the path of a request to Mastodon; empty if there is none."""
    found = _ID.search(request.path)
    return found[0] if found else ""


def parameters(request: ReceivedRequest) -> dict[str, Any]:
    """The parameters of a request to Mastodon, from JSON or a form, whose lists are named `media_ids[]`."""
    if request.headers.get("content-type", "").startswith("application/json"):
        try:
            given = request.json()
        except ValueError as error:
            raise Refusal(400, "Malformed JSON") from error
        return given if isinstance(given, dict) else {}
    form = parse_qs(request.body.decode(), keep_blank_values=True)
    return {name.removesuffix("[]"): value if name.endswith("[]") else value[-1] for name, value in form.items()}


def multipart(request: ReceivedRequest) -> tuple[dict[str, str], tuple[str, bytes] | None]:
    """The fields of a multipart request to Mastodon, and the file with its MIME type; a part without one is no file."""
    fields, file = {}, None
    for part in MultipartDecoder(request.body, request.headers.get("content-type", "")).parts:
        headers = {name.decode().lower(): value.decode() for name, value in part.headers.items()}
        named = dict(_PARAMETER.findall(headers["content-disposition"]))
        if named.get("name") == "file" and "filename" in named:
            file = (headers.get("content-type", ""), part.content)
        else:
            fields[named["name"]] = part.content.decode()
    return fields, file
