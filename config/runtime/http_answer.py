"""The service's error envelope as bytes, for what never reaches the application."""

from __future__ import annotations

import json
from http import HTTPStatus

from config.api.errors import ApiError
from config.api.trace import HEADER


def http_answer(error: ApiError) -> bytes:
    """`error` as a whole HTTP/1.1 answer, after which the connection closes."""
    envelope = error.envelope()
    body = json.dumps(envelope).encode()
    lines = [
        f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}",
        "Connection: close",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        f"{HEADER}: {envelope['trace_id']}",
    ]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body
