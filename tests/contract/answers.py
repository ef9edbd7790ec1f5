"""Validates every answer to the test API client against the OpenAPI document."""

from __future__ import annotations

import functools
import json
import re
from typing import Any
from urllib.parse import urlsplit

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from tests.contract.routes import described

_REF = "#/components/schemas/"


def assert_documented(method: str, path: str, answer: Any) -> None:
    """Assert that the OpenAPI document describes the answer: its status, required headers, type and body.

    What the document does not describe, such as an unknown path, is asked for the error envelope alone.
    """
    summary = f"{method} {path} answered {answer.status_code}"
    template = _template_of(urlsplit(path).path)
    operation = _document()["paths"].get(template, {}).get({"HEAD": "get"}.get(method, method.lower()))
    if operation is None:
        if answer.status_code >= 400 and _media_type(answer) == "application/json":
            _assert_schema(_validator("envelope", "", ""), json.loads(answer.content), summary)
        return
    described_answer = operation["responses"].get(str(answer.status_code))
    assert described_answer, f"{summary}, which is not documented for {operation['operationId']}."
    for name, header in described_answer["headers"].items():
        assert not header.get("required") or name in answer, f"{summary} without the header {name}."
    if "content" in described_answer:
        media_type = _media_type(answer)
        assert media_type in described_answer["content"], f"{summary} as {media_type}, which is not documented."
        if media_type == "application/json" and method != "HEAD":
            body = json.loads(answer.content)
            validator = _validator(template, method.lower(), str(answer.status_code))
            _assert_schema(validator, body, summary)
            if answer.status_code >= 400:
                codes = described_answer["content"]["application/json"]["examples"]
                assert body["code"] in codes, f"{summary} with {body['code']}, which is not documented."


def _media_type(answer: Any) -> str:
    return str(answer.get("content-type", "")).partition(";")[0]


def _assert_schema(validator: Draft202012Validator, body: Any, summary: str) -> None:
    fault = best_match(validator.iter_errors(body))
    assert fault is None, f"{summary} with a body that its schema does not allow: {fault.json_path}: {fault.message}"


@functools.cache
def _document() -> dict[str, Any]:
    return described()


@functools.cache
def _validator(template: str, method: str, status: str) -> Draft202012Validator:
    """Return the validator for bodies of this answer; "envelope" validates errors. Formats are not checked."""
    if template == "envelope":
        return Draft202012Validator(inlined({"$ref": f"{_REF}ErrorEnvelope"}))
    answer = _document()["paths"][template][method]["responses"][status]
    return Draft202012Validator(inlined(answer["content"]["application/json"]["schema"]))


def inlined(schema: Any) -> Any:
    """Return the schema with all references replaced, because resolving them is slow."""
    if isinstance(schema, list):
        return [inlined(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        beside = {name: value for name, value in schema.items() if name != "$ref"}
        named = inlined(_document()["components"]["schemas"][schema["$ref"].removeprefix(_REF)])
        return {"allOf": [named], **inlined(beside)} if beside else named
    return {name: inlined(value) for name, value in schema.items()}


@functools.cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Return each documented path as a pattern, paths without parameters first."""
    templates = sorted(_document()["paths"], key=lambda template: template.count("{"))
    return [(re.compile(re.sub(r"{\w+}", "[^/]+", template)), template) for template in templates]


def _template_of(path: str) -> str:
    return next((template for pattern, template in _patterns() if pattern.fullmatch(path)), "")
