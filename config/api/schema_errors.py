"""Describes the error responses of API operations in the OpenAPI schema: error codes by status, each with an example."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from config.api.errors import ApiError
from config.api.operation import Operation

REQUEST_ERROR_CODES = (
    "FORBIDDEN",  # a token over plain http, a key from a network that it does not allow, a member who may only read
    "MALFORMED_REQUEST",
    "NOT_ACCEPTABLE",
    "PAYLOAD_TOO_LARGE",
    "VALIDATION_FAILED",
)
SERVER_ERROR_CODES = ("INTERNAL_ERROR", "SERVICE_UNAVAILABLE")
BEARER_CODES = ("UNAUTHENTICATED", "API_KEY_EXPIRED", "API_KEY_REVOKED", "RATE_LIMITED")
OPERATOR_CODES = ("UNAUTHENTICATED", "RATE_LIMITED", "NOT_FOUND")  # NOT_FOUND: no ADMIN_TOKEN is set
WRITE_CODES = ("UNSUPPORTED_MEDIA_TYPE", "WORKSPACE_PAUSED")

STATUS_DESCRIPTIONS = {
    400: "Malformed request: invalid JSON, a repeated key, nested too deep, or a bad header.",
    401: "No valid bearer token, or the sign-in behind it is too old.",
    402: "The spend cap is reached, or a payment method is needed.",
    403: "The caller may not do this.",
    404: "Not found.",
    405: "Method not allowed.",
    406: "Only JSON answers are available.",
    409: "Conflict with the current state.",
    410: "No longer available.",
    413: "The body is too large.",
    415: "This Content-Type is not accepted.",
    422: "Some fields are invalid; `details` lists each.",
    429: "Too many requests; `Retry-After` says when to continue.",
    500: "Internal error.",
    502: "The platform answered with an error.",
    503: "Temporarily unavailable; `Retry-After` says when to try again.",
}
_RETRY_AFTER = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds to wait.", "required": True}}
_HEADERS = {
    401: {
        "WWW-Authenticate": {
            "schema": {"type": "string"},
            "description": "Bearer; RFC 9470 for an old sign-in.",
            "required": True,
        }
    },
    429: _RETRY_AFTER,
    503: _RETRY_AFTER,
}
_EXAMPLE_DETAILS = {
    "VALIDATION_FAILED": [{"field": "workspace_id", "code": "required", "message": "This field is required."}],
    "CONTENT_INVALID": [
        {
            "field": "targets[0].text",
            "code": "TEXT_TOO_LONG",
            "message": "The text counts 312 graphemes; bluesky takes 300.",
            "severity": "error",
            "auto_fixable": True,
            "repair_hint": {
                "action": "replace_text",
                "field": "targets[0].text",
                "value": "We are live.",
                "explanation": "The text cut at a word within 300 graphemes; it holds for this target only.",
            },
        }
    ],
}


def error_codes_of(declared: Operation, method: str, path: str) -> list[str]:
    """For the OpenAPI schema: return the error codes, each once, that an operation can answer to this HTTP method."""
    writes = declared.counts_as_write_by_method(method)
    if declared.access.operator:
        sent = ("UNSUPPORTED_MEDIA_TYPE",) if writes else ()
        previewed = ("PLAN_CHANGED",) if declared.preview else ()
        return list(
            dict.fromkeys([*REQUEST_ERROR_CODES, *OPERATOR_CODES, *sent, *previewed, *declared.errors, *SERVER_ERROR_CODES])
        )
    codes = [*REQUEST_ERROR_CODES, *(() if declared.access.public else BEARER_CODES)]
    if declared.access.scope:
        codes.append("SCOPE_MISSING")
    if "{" in path or "workspace_id" in declared.query().fields:
        codes.append("NOT_FOUND")
    if writes:
        codes += WRITE_CODES
        codes += ["METHOD_NOT_ALLOWED"] if method == "GET" else []  # HEAD must not change anything
    if declared.preview:
        codes += ["AGENT_MODE_FORBIDS", "PLAN_CHANGED"]
    if declared.idempotency.mode:
        codes += ["IDEMPOTENCY_IN_PROGRESS", "NOT_FOUND"]  # a replay is shown only to members of the workspace
    return list(dict.fromkeys([*codes, *declared.errors, *SERVER_ERROR_CODES]))


def error_response_schemas(codes: list[str], body_schema: dict[str, Any], headers: dict[str, Any]) -> dict[str, Any]:
    """Return the OpenAPI schema of the error responses with these error codes, by HTTP status."""
    by_status: dict[int, list[str]] = {}
    for code in codes:
        by_status.setdefault(_classes()[code].status, []).append(code)
    return {
        str(status): {
            "description": f"{STATUS_DESCRIPTIONS[status]} Codes: {', '.join(names)}.",
            "content": {
                "application/json": {
                    "schema": body_schema,
                    "examples": {name: {"$ref": f"#/components/examples/{name}"} for name in names},
                }
            },
            "headers": {**headers, **_HEADERS.get(status, {})},
        }
        for status, names in sorted(by_status.items())
    }


def error_examples(paths: Mapping[str, Any]) -> dict[str, Any]:
    """Return the OpenAPI examples, by error code, of all errors that the operations in `paths` can return."""
    answers = [answer for methods in paths.values() for one in methods.values() for answer in one["responses"].values()]
    contents = [content for answer in answers for content in answer.get("content", {}).values()]
    named = {code for content in contents for code in content.get("examples", {})}
    classes = sorted((code, cls) for code, cls in _classes().items() if code in named)
    return {code: {"summary": cls.message, "value": _example_body(cls)} for code, cls in classes}


def _example_body(cls: type[ApiError]) -> dict[str, Any]:
    body = {
        "code": cls.code,
        "message": cls.message,
        "suggested_action": cls.suggested_action,
        "auto_fixable": cls.auto_fixable,
        "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
    }
    return {**body, "details": _EXAMPLE_DETAILS[cls.code]} if cls.code in _EXAMPLE_DETAILS else body


def _classes(base: type[ApiError] = ApiError) -> dict[str, type[ApiError]]:
    """Return all subclasses of an API error class by error code, for the errors in the OpenAPI schema."""
    found: dict[str, type[ApiError]] = {}
    for child in base.__subclasses__():
        found |= {**_classes(child), child.code: child}
    return found
