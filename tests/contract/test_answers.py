"""The test client fails a test whose answer does not match the OpenAPI document."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import HttpResponse, JsonResponse

from tests.contract.answers import assert_documented

HEADERS = {"x-trace-id": "0" * 32, "RateLimit-Limit": "60", "RateLimit-Remaining": "59", "RateLimit-Reset": "1"}
FAULT = {"code": "NOT_FOUND", "message": "X.", "suggested_action": "X.", "auto_fixable": False, "trace_id": "0" * 32}
EMPTY: dict[str, Any] = {"workspaces": [], "next_cursor": None}
LIST = "/workspaces?owner_user_id=usr_1"


def test_a_documented_answer_passes() -> None:
    assert_documented("GET", LIST, JsonResponse(EMPTY, headers=HEADERS))
    assert_documented("HEAD", LIST, HttpResponse(content_type="application/json", headers=HEADERS))
    assert_documented("GET", "/agents/agt_1", JsonResponse(FAULT, status=404, headers={"x-trace-id": "0" * 32}))
    assert_documented("GET", "/nowhere", JsonResponse(FAULT, status=404))


def test_an_undocumented_media_type_fails() -> None:
    with pytest.raises(AssertionError, match="as text/plain, which is not documented"):
        assert_documented("GET", LIST, HttpResponse("{}", content_type="text/plain", headers=HEADERS))


@pytest.mark.parametrize(
    ("path", "body", "status", "headers", "message"),
    [
        (LIST, EMPTY, 202, HEADERS, "answered 202, which is not documented for workspaces_list"),
        (LIST, EMPTY, 200, {"x-trace-id": "0" * 32}, "without the header RateLimit-Limit"),
        (LIST, {"workspaces": []}, 200, HEADERS, "'next_cursor' is a required property"),
        (LIST, {**EMPTY, "more": 1}, 200, HEADERS, "'more' was unexpected"),
        (LIST, {**EMPTY, "workspaces": [{}]}, 200, HEADERS, r"\$\.workspaces\[0\]: '\w+' is a required property"),
        ("/agents/agt_1", FAULT, 404, {}, "without the header x-trace-id"),
        (LIST, FAULT, 422, {"x-trace-id": "0" * 32}, "with NOT_FOUND, which is not documented"),
        (LIST, FAULT, 401, {"x-trace-id": "0" * 32}, "without the header WWW-Authenticate"),
        ("/posts/search", EMPTY, 200, HEADERS, "'posts' is a required property"),
        ("/nowhere", {**FAULT, "trace_id": None}, 404, {}, "None is not of type 'string'"),
    ],
)
def test_an_undocumented_answer_fails_with_a_reason(
    path: str, body: dict[str, Any], status: int, headers: dict[str, str], message: str
) -> None:
    with pytest.raises(AssertionError, match=message):
        assert_documented("GET", path, JsonResponse(body, status=status, headers=headers))
