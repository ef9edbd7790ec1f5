"""All error answers use the error envelope."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import ApiClient
from workspaces.models import User

FIELDS = {"code", "message", "suggested_action", "auto_fixable", "trace_id"}


def assert_envelope(answer: Any, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.content[:500]
    assert answer["content-type"] == "application/json"
    body = answer.json()
    assert body["code"] == code
    assert set(body) - {"details", "plan"} == FIELDS
    assert body["trace_id"] == answer["x-trace-id"]
    return dict(body)


def nested(levels: int) -> bytes:
    return b'{"a":' * levels + b"1" + b"}" * levels


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"",
        b'{"name": NaN}',
        b'{"name": Infinity}',
        b'{"name": 1e999}',
        b'{"name": "a", "name": "b"}',
        b'{"name": "\\u0000"}',
        b'{"name": "\\ud800"}',
        b"\xff\xfe",
        nested(33),
        nested(5000),
        b'{"name": ' + b"9" * 5000 + b"}",
        b"\xef\xbb\xbf{}",
    ],
    ids=lambda body: str(body[:24]),
)
def test_malformed_json_is_refused(api: ApiClient, body: bytes) -> None:
    sent = body or b" "
    assert_envelope(api.post("/auth/api-keys", sent), 400, "MALFORMED_REQUEST")


def test_nesting_up_to_32_levels_is_accepted(api: ApiClient) -> None:
    assert_envelope(api.post("/auth/api-keys", nested(32)), 422, "VALIDATION_FAILED")


@pytest.mark.parametrize("body", [b"[]", b'"text"', b"1", b"null"])
def test_a_body_that_is_not_an_object_is_invalid(api: ApiClient, body: bytes) -> None:
    assert_envelope(api.post("/auth/api-keys", body), 422, "VALIDATION_FAILED")


def test_a_large_body_is_refused_before_it_is_parsed(api: ApiClient) -> None:
    assert_envelope(api.post("/posts", b"[" * 1_000_001), 413, "PAYLOAD_TOO_LARGE")


def test_a_content_type_other_than_json_is_refused(api: ApiClient) -> None:
    answer = api.post("/auth/api-keys", b"a=b", content_type="application/x-www-form-urlencoded")
    assert_envelope(answer, 415, "UNSUPPORTED_MEDIA_TYPE")


def test_an_accept_header_without_json_is_refused(api: ApiClient) -> None:
    assert_envelope(api.get("/capabilities", accept="text/html"), 406, "NOT_ACCEPTABLE")


@pytest.mark.parametrize("path", ["/nothing", "/workspaces/", "/posts/x/y/z", "/%00", "/posts/%ff"])
def test_an_unknown_path_is_not_found(api: ApiClient, path: str) -> None:
    assert_envelope(api.get(path), 404, "NOT_FOUND")


def test_a_method_that_a_path_does_not_allow_is_refused(api: ApiClient) -> None:
    answer = api.request("PATCH", "/capabilities")
    assert_envelope(answer, 405, "METHOD_NOT_ALLOWED")
    assert "GET" in answer["allow"]


@pytest.mark.parametrize("method", ["GET", "PUT", "TRACE"])
def test_a_method_without_an_operation_needs_a_token_where_the_operations_do(method: str) -> None:
    nobody = ApiClient()
    assert_envelope(nobody.request(method, "/billing/webhooks/processor"), 405, "METHOD_NOT_ALLOWED")
    assert_envelope(nobody.request(method, "/posts"), 401, "UNAUTHENTICATED")


def test_a_foreign_host_is_refused(api: ApiClient) -> None:
    assert_envelope(api.get("/capabilities", host="evil.example"), 400, "MALFORMED_REQUEST")


def test_an_internal_error_reveals_no_details(api: ApiClient, owner: User, settings: Any) -> None:
    settings.WORKSPACE_PROVISIONERS = ["no.such.Provisioner"]
    answer = api.post("/workspaces", {"owner_user_id": owner.id, "name": "A"})
    assert "Provisioner" not in str(assert_envelope(answer, 500, "INTERNAL_ERROR"))


def test_a_trace_is_continued(api: ApiClient) -> None:
    answer = api.get("/nothing", traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    assert assert_envelope(answer, 404, "NOT_FOUND")["trace_id"] == "0af7651916cd43dd8448eb211c80319c"


@pytest.mark.parametrize("sent", ["", "00-" + "0" * 32 + "-b7ad6b7169203331-01", "01-junk", "x" * 500])
def test_an_invalid_traceparent_starts_a_new_trace(api: ApiClient, sent: str) -> None:
    assert len(api.get("/nothing", traceparent=sent).json()["trace_id"]) == 32


def test_an_unknown_query_parameter_is_refused(api: ApiClient) -> None:
    answer = api.get("/capabilities?colour=red")
    details = assert_envelope(answer, 422, "VALIDATION_FAILED")["details"]
    assert details == [{"field": "colour", "code": "unknown_field", "message": "Unknown field."}]


def test_a_repeated_query_parameter_is_refused(api: ApiClient) -> None:
    answer = api.get("/accounts?limit=1&limit=2")
    assert assert_envelope(answer, 422, "VALIDATION_FAILED")["details"][0]["field"] == "limit"
