"""Shared functions of the stand-ins of Meta's products: Graph's error objects, tokens, forms and time stamps.

Sources: developers.facebook.com, graph-api/guides/error-handling, graph-api/guides/secure-requests,
graph-api/overview/rate-limiting.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs

from requests_toolbelt import MultipartDecoder

from tests.fakes.http_server import Answer, ReceivedRequest

VERSION = "v25.0"

_NAMED = re.compile(r';\s*name="([^"]*)"')
_IDS = re.compile(r"(?<=/)\d+(?:_\d+)?(?=/|$)")


class GraphRefusal(Exception):
    """A response with Graph's error object: a status, a code, and further fields."""

    def __init__(self, code: int, message: str, subcode: int = 0, status: int = 400, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.error = {"message": message, "type": "OAuthException", "code": code, "fbtrace_id": "A9xT", **more}
        if subcode:
            self.error["error_subcode"] = subcode

    def answer(self, headers: Mapping[str, str] | None = None) -> Answer:
        """The error as an HTTP response."""
        return Answer.of_json({"error": self.error}, self.status, headers)


def invalid_token(subcode: int = 0, why: str = "Session has expired on Friday, 20-Nov-26 04:00:00 PST.") -> GraphRefusal:
    """Graph's error for an invalid or expired token."""
    return GraphRefusal(190, f"Error validating access token: {why}", subcode, 401)


def forbidden(permission: str) -> GraphRefusal:
    """Graph's error for a missing permission."""
    return GraphRefusal(200, f"(#200) The permission(s) {permission} must be granted before this call.", status=403)


def invalid_parameter(message: str, subcode: int = 0, **more: Any) -> GraphRefusal:
    """Graph's error for an invalid parameter."""
    return GraphRefusal(100, f"(#100) {message}", subcode, **more)


def no_such_object(object_id: str) -> GraphRefusal:
    """Graph's error for an object that does not exist or may not be read with this token."""
    return invalid_parameter(f"Unsupported request. Object with ID '{object_id}' does not exist.", 33)


def bearer_of(request: ReceivedRequest) -> str:
    """The access token of a request, in its header or among its parameters."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token if scheme in ("Bearer", "OAuth") else request.query.get("access_token", "")


def proof_of(secret: str, token: str) -> str:
    """The proof that a token is used by the app of this secret."""
    return hmac.new(secret.encode(), token.encode(), hashlib.sha256).hexdigest()


def form_of(request: ReceivedRequest) -> dict[str, str]:
    """The fields of a urlencoded or multipart form without its files, and of the query, which Graph reads in the same way."""
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        fields = {name: content.decode() for name, (content, is_file) in parts_of(request).items() if not is_file}
    else:
        text = request.body.decode()
        fields = {name: values[-1] for name, values in parse_qs(text, keep_blank_values=True).items()}
    return {**request.query, **fields}


def parts_of(request: ReceivedRequest) -> dict[str, tuple[bytes, bool]]:
    """The parts of a multipart body by name: their bytes, and whether they are files."""
    found = {}
    for part in MultipartDecoder(request.body, request.headers["content-type"]).parts:
        disposition = part.headers[b"Content-Disposition"].decode()
        named = _NAMED.search(disposition)
        assert named is not None
        found[named[1]] = (part.content, "filename=" in disposition)
    return found


def fields_of(request: ReceivedRequest, allowed: set[str]) -> set[str]:
    """The fields that a request asks for; Graph refuses those that do not exist."""
    asked = request.query.get("fields", "id")
    while "{" in asked:  # the fields of nested objects
        asked = re.sub(r"\{[^{}]*\}", "", asked)
    wanted = {each for each in asked.split(",") if each}
    if unknown := wanted - allowed:
        raise invalid_parameter(f"Tried accessing nonexisting field ({unknown.pop()}) on node type (Post)")
    return wanted


def list_page(items: list[dict[str, Any]], request: ReceivedRequest) -> Answer:
    """A response with one page of a list, and a cursor if there are more."""
    limit, start = int(request.query.get("limit", "25")), int(request.query.get("after", "0"))
    page = items[start : start + limit]
    paging: dict[str, Any] = {"cursors": {"before": str(start), "after": str(start + len(page))}} if page else {}
    if start + limit < len(items):
        paging["next"] = "https://graph.facebook.com/next"
    return Answer.of_json({"data": page, **({"paging": paging} if paging else {})})


def call_of(request: ReceivedRequest) -> str:
    """The method and path without the version, ids replaced by `:id`; followed by the phase of an upload."""
    path = request.path.removeprefix(f"/{VERSION}")
    name = f"{request.method} {_IDS.sub(':id', path)}"
    phase = re.search(rb'upload_phase(?:=|"\r\n\r\n)(\w+)', request.body[:2000]) if request.method == "POST" else None
    return f"{name} {phase[1].decode()}" if phase else name


def ids_in(request: ReceivedRequest) -> list[str]:
    """The ids in a request's path."""
    return _IDS.findall(request.path)


def stamp(moment: datetime) -> str:
    """A time as Graph writes it."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S+0000}"


def business_usage(object_id: str, minutes: int) -> dict[str, str]:
    """Graph's header which says that a business use case has used up its calls for so many minutes."""
    usage = {"type": "pages", "call_count": 100, "total_cputime": 20, "total_time": 20}
    return {"X-Business-Use-Case-Usage": json.dumps({object_id: [{**usage, "estimated_time_to_regain_access": minutes}]})}
