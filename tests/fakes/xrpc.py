"""The XRPC conventions of an AT Protocol server: errors, bearer tokens and JSON bodies.

Measured against a reference PDS (@atproto/dev-env 0.6.7).
"""

from __future__ import annotations

import json
from typing import Any

from tests.fakes.http_server import Answer, ReceivedRequest

STATUS_NAMES = {500: "InternalServerError", 502: "UpstreamFailure", 503: "NotEnoughResources", 504: "UpstreamTimeout"}


class XrpcError(Exception):
    """An XRPC error response: `{"error": …, "message": …}` with an HTTP status."""

    def __init__(self, status: int, error: str, message: str) -> None:
        super().__init__(f"{status} {error}: {message}")
        self.status = status
        self.error = error
        self.message = message

    def answer(self) -> Answer:
        """The HTTP response of the XRPC error."""
        return Answer.of_json({"error": self.error, "message": self.message}, self.status)


def invalid_request(message: str) -> XrpcError:
    """The XRPC error for malformed input."""
    return XrpcError(400, "InvalidRequest", message)


def server_error(status: int) -> Answer:
    """The response of an AT Protocol server that failed itself: 500, 502, 503, 504."""
    name = STATUS_NAMES.get(status, "InternalServerError")
    return XrpcError(status, name, "Internal Server Error" if status == 500 else name).answer()


def bearer_token(request: ReceivedRequest) -> str:
    """The token of an XRPC caller; AuthMissing without the Authorization header, InvalidToken for another scheme."""
    header = request.headers.get("authorization")
    if not header:
        raise XrpcError(401, "AuthMissing", "Authentication Required")
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer":
        raise XrpcError(400, "InvalidToken", "Unexpected authorization type")
    if not token:
        raise XrpcError(400, "InvalidToken", "Malformed authorization header")
    return token


def json_body(request: ReceivedRequest, *required: str) -> dict[str, Any]:
    """The body of an XRPC request as a JSON object that has the required keys."""
    encoding = content_type(request)
    if encoding != "application/json":
        raise invalid_request(f"Wrong request encoding (Content-Type): {encoding}")
    try:
        body = request.json()
    except ValueError as error:
        raise XrpcError(400, "SyntaxError", str(error)) from error
    if not isinstance(body, dict):
        raise invalid_request(f"Expected object value type (got {json.dumps(body)}) at $")
    require_keys(body, required, "$")
    return body


def content_type(request: ReceivedRequest) -> str:
    """The media type of an XRPC request without parameters; InvalidRequest if the header is missing."""
    header = request.headers.get("content-type")
    if not header:
        raise invalid_request("Request encoding (Content-Type) required but not provided")
    return header.partition(";")[0].strip().lower()


def require_keys(value: dict[str, Any], required: tuple[str, ...], path: str) -> None:
    """Raise the XRPC error InvalidRequest for the first required key that is missing."""
    for key in required:
        if key not in value:
            raise invalid_request(f'Missing required key "{key}" at {path}')
