"""The error answers of an operation in the OpenAPI document: which codes it can give, by status, each with an example."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from config.api.errors import ApiError
from config.api.operation import Operation

GENERAL = (
    "FORBIDDEN",  # a token over plain http, a key from a network that it does not allow, a member who may only read
    "MALFORMED_REQUEST",
    "NOT_ACCEPTABLE",
    "PAYLOAD_TOO_LARGE",
    "VALIDATION_FAILED",
)
ALWAYS = ("INTERNAL_ERROR", "SERVICE_UNAVAILABLE")
BEARER = ("UNAUTHENTICATED", "API_KEY_EXPIRED", "API_KEY_REVOKED", "RATE_LIMITED")
OPERATORS = ("UNAUTHENTICATED", "RATE_LIMITED", "NOT_FOUND")  # the last: the service has no operator's token
WRITES = ("UNSUPPORTED_MEDIA_TYPE", "WORKSPACE_PAUSED")

STATUSES = {
    400: "Malformed: not JSON, a key twice, nested too deep, or a bad header.",
    401: "No valid bearer token, or the sign-in behind it is too old.",
    402: "The spend cap is reached, or a payment method is needed.",
    403: "The caller may not do this.",
    404: "Nothing there for this caller.",
    405: "Not a method of this address.",
    406: "The answer is JSON only.",
    409: "In conflict with what stands now.",
    410: "Too late.",
    413: "The body is too large.",
    415: "The body is of no type that is read here.",
    422: "Some of the input is not right; `details` names each field.",
    429: "Too many requests; `Retry-After` says when to go on.",
    500: "A fault of the service.",
    502: "The platform answered with a fault.",
    503: "Not at the moment; `Retry-After` says when to try again.",
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
_DETAILS = {
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


def codes_of(declared: Operation, method: str, path: str) -> list[str]:
    """The codes that the operation can give, in the order in which their checks come."""
    if declared.operator:
        sent = ("UNSUPPORTED_MEDIA_TYPE",) if declared.writes_by(method) else ()
        return list(dict.fromkeys([*GENERAL, *OPERATORS, *sent, *declared.errors, *ALWAYS]))
    codes = [*GENERAL, *(() if declared.public else BEARER)]
    writes = declared.writes_by(method)
    if declared.scope:
        codes.append("SCOPE_MISSING")
    if "{" in path or "workspace_id" in declared.query().fields:
        codes.append("NOT_FOUND")
    if writes:
        codes += WRITES
        codes += ["METHOD_NOT_ALLOWED"] if method == "GET" else []  # HEAD must change nothing
    if declared.preview:
        codes.append("AGENT_MODE_FORBIDS")
    if declared.idempotent:
        codes += [
            "IDEMPOTENCY_IN_PROGRESS",
            "NOT_FOUND",
        ]  # a replay is shown only to who still belongs to the workspace
    return list(dict.fromkeys([*codes, *declared.errors, *ALWAYS]))


def error_answers(codes: list[str], envelope: dict[str, Any], headers: dict[str, Any]) -> dict[str, Any]:
    """The document's responses for these codes, by status; `envelope` is the reference to its schema."""
    by_status: dict[int, list[str]] = {}
    for code in codes:
        by_status.setdefault(_classes()[code].status, []).append(code)
    return {
        str(status): {
            "description": f"{STATUSES[status]} Codes: {', '.join(names)}.",
            "content": {
                "application/json": {
                    "schema": envelope,
                    "examples": {name: {"$ref": f"#/components/examples/{name}"} for name in names},
                }
            },
            "headers": {**headers, **_HEADERS.get(status, {})},
        }
        for status, names in sorted(by_status.items())
    }


def error_examples(paths: Mapping[str, Any]) -> dict[str, Any]:
    """The document's components: an example of each error that an operation in `paths` names, by its code."""
    answers = [answer for methods in paths.values() for one in methods.values() for answer in one["responses"].values()]
    contents = [content for answer in answers for content in answer.get("content", {}).values()]
    named = {code for content in contents for code in content.get("examples", {})}
    classes = sorted((code, cls) for code, cls in _classes().items() if code in named)
    return {code: {"summary": cls.message, "value": _envelope(cls)} for code, cls in classes}


def _envelope(cls: type[ApiError]) -> dict[str, Any]:
    told = {
        "code": cls.code,
        "message": cls.message,
        "suggested_action": cls.suggested_action,
        "auto_fixable": cls.auto_fixable,
        "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
    }
    return {**told, "details": _DETAILS[cls.code]} if cls.code in _DETAILS else told


def _classes() -> dict[str, type[ApiError]]:
    return {cls.code: cls for cls in _below(ApiError)}


def _below(cls: type[ApiError]) -> Iterator[type[ApiError]]:
    for child in cls.__subclasses__():
        yield from _below(child)
        yield child
