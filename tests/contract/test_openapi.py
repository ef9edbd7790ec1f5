"""The document at GET /openapi.json, and the pages that show it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema_specifications import REGISTRY
from openapi_spec_validator import OpenAPIV31SpecValidator
from referencing import Resource

from config.api.scopes import SCOPES
from tests.config.test_errors import assert_envelope
from tests.conftest import ApiClient
from tests.contract.routes import described, request_schemas
from webhooks.event_kinds import DELIVERED_KINDS

DOCUMENT = described()
OPERATIONS = [
    (f"{method.upper()} {path}", operation)
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
]
NOBODY = ApiClient()


OPENAPI = dict(OpenAPIV31SpecValidator.schema_validator.schema)


class DocumentValidator(OpenAPIV31SpecValidator):
    """The library's own searches all schemas for anchors again at each of thousands of references, this one once."""

    schema_validator = Draft202012Validator(
        {"$ref": OPENAPI["$id"]}, registry=(Resource.from_contents(OPENAPI) @ REGISTRY).crawl()
    )


def test_the_document_is_valid_openapi_3_1() -> None:
    assert DOCUMENT["openapi"] == "3.1.0"
    assert DOCUMENT["info"]["version"] == "0.1.0"
    assert list(DocumentValidator(DOCUMENT).iter_errors()) == []


def test_the_check_of_the_document_finds_what_is_wrong() -> None:
    operation = {"responses": {}, "parameters": [{"name": "a", "schema": {"type": "string"}}]}
    wrong = {"openapi": "3.1.0", "info": {"title": "A", "version": "1"}, "paths": {"/a": {"get": operation}}}

    assert "'in' is a required property" in {each.message for each in DocumentValidator.schema_validator.iter_errors(wrong)}


def test_the_document_is_served_as_json_without_a_token() -> None:
    answer = NOBODY.get("/openapi.json")

    assert (answer.status_code, answer["content-type"]) == (200, "application/json")
    assert answer.json() == DOCUMENT


def test_every_process_serves_the_same_bytes() -> None:
    for methods in NOBODY.get("/openapi.json").json()["paths"].values():
        assert list(methods) == sorted(methods)


def test_a_request_with_the_current_etag_gets_304() -> None:
    first = NOBODY.get("/openapi.json")
    again = NOBODY.get("/openapi.json", if_none_match=first["etag"])
    other = NOBODY.get("/openapi.json", if_none_match='"another"')

    assert (again.status_code, again.content, again["etag"]) == (304, b"", first["etag"])
    assert (other.status_code, other.content) == (200, first.content)


@pytest.mark.parametrize("path", ["/openapi.json", "/healthz", "/readyz", "/metrics"])
def test_a_write_to_a_read_only_path_gets_the_error_envelope(path: str) -> None:
    strict = ApiClient()
    strict.http.handler.enforce_csrf_checks = True
    answer = strict.post(path)

    assert_envelope(answer, 405, "METHOD_NOT_ALLOWED")
    assert answer["allow"] == "GET, HEAD"


def test_a_csrf_failure_outside_the_dashboard_gets_the_error_envelope() -> None:
    strict = ApiClient()
    strict.http.handler.enforce_csrf_checks = True

    assert_envelope(strict.post("/"), 403, "FORBIDDEN")
    assert strict.post("/dashboard/sign-out")["content-type"].startswith("text/html")


def test_every_operation_except_the_public_ones_needs_a_bearer_token() -> None:
    assert DOCUMENT["components"]["securitySchemes"]["bearerAuth"]["scheme"] == "bearer"
    assert {name for name, operation in OPERATIONS if operation["security"] == []} == {
        "GET /openapi.json",
        "POST /billing/webhooks/processor",
    }
    for _, operation in OPERATIONS:
        assert {scope for one in operation["security"] for scopes in one.values() for scope in scopes} <= set(SCOPES)


def test_operator_operations_have_their_own_token_and_tag() -> None:
    assert DOCUMENT["components"]["securitySchemes"]["adminToken"]["scheme"] == "bearer"
    for name, operation in OPERATIONS:
        operators = name.partition(" ")[2].startswith("/ops/")
        assert (operation["security"] == [{"adminToken": []}]) == operators
        assert (operation["tags"] == ["ops"]) == operators


@pytest.mark.parametrize(("name", "operation"), OPERATIONS, ids=[name for name, _ in OPERATIONS])
def test_every_operation_is_described(name: str, operation: dict[str, Any]) -> None:
    assert operation["summary"]
    assert operation["tags"]
    if name != "GET /openapi.json":
        assert {"400", "422", "500", "503"} <= set(operation["responses"])
        assert operation["security"] == [] or {"401", "429"} <= set(operation["responses"])
        for status, answer in operation["responses"].items():
            if int(status) >= 400:
                body = answer["content"]["application/json"]
                assert body["schema"] == {"$ref": "#/components/schemas/ErrorEnvelope"}
                assert body["examples"], f"{status} without a code"
    assert all("x-trace-id" in response["headers"] for response in operation["responses"].values())


@pytest.mark.parametrize(("name", "operation"), OPERATIONS, ids=[name for name, _ in OPERATIONS])
def test_request_bodies_are_described(name: str, operation: dict[str, Any]) -> None:
    for schema in request_schemas(operation):
        for place, inner in _schemas(schema, name):
            if inner.get("type") == "object":
                assert "additionalProperties" in inner, f"{place} is a bare object"
            elif inner.get("type") == "array":
                assert inner["items"], f"{place} is a bare array"
            else:
                assert {"type", "enum", "$ref", "allOf", "oneOf", "anyOf"} & set(inner), f"{place} takes anything"


def test_every_event_is_a_webhook_in_the_document() -> None:
    assert list(DOCUMENT["webhooks"]) == [kind.value for kind in DELIVERED_KINDS]


def test_the_document_is_shown_as_a_page(settings: Any) -> None:
    settings.WHITENOISE_USE_FINDERS = True
    reader = ApiClient()
    page = reader.get("/docs")
    assets = re.findall(r'(?:src|href)="(/[^"]+)"', page.content.decode())

    assert page.status_code == 200
    assert any(asset.endswith(".js") for asset in assets)
    assert [asset for asset in assets if reader.get(asset).status_code != 200] == []
    assert reader.get("/")["location"] == "/docs"


def _schemas(schema: dict[str, Any], place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the schema and all schemas inside it, with references followed."""
    yield place, schema
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        yield from _schemas(DOCUMENT["components"]["schemas"][name], name)
    for name, inner in schema.get("properties", {}).items():
        yield from _schemas(inner, f"{place}.{name}")
    for key in ("allOf", "oneOf", "anyOf"):
        for inner in schema.get(key, []):
            yield from _schemas(inner, place)
    if schema.get("items"):
        yield from _schemas(schema["items"], f"{place}[]")
