"""Builds an HTTP error response as bytes, for requests that never reach the application."""

from __future__ import annotations

import json
from http import HTTPStatus

from config.api.errors import ApiError
from config.api.trace import TRACE_HEADER


def raw_error_response(error: ApiError) -> bytes:
    """Return `error` as a complete HTTP/1.1 response with the error envelope and `Connection: close`."""
    envelope = error.envelope()
    body = json.dumps(envelope).encode()
    lines = [
        f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}",
        "Connection: close",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        f"{TRACE_HEADER}: {envelope['trace_id']}",
    ]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body
