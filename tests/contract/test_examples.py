"""The OpenAPI document has examples for each operation, and each matches its schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import best_match

from tests.contract.answers import inlined
from tests.contract.routes import described

DOCUMENT = described()
JSON = "application/json"
FORMATS = FormatChecker(("date", "date-time", "email", "uuid"))
URI = re.compile(r"https?://[\w.:-]+(?:/[\w./~:@!$&'()*+,;=%-]*)?(?:\?[\w./~:@!$&'()*+,;=%?-]*)?", re.ASCII)


@FORMATS.checks("uri")
def _is_uri(value: object) -> bool:
    return not isinstance(value, str) or URI.fullmatch(value) is not None


def _resolved(example: dict[str, Any]) -> dict[str, Any]:
    name = example.get("$ref", "").rpartition("/")[2]
    return dict(DOCUMENT["components"]["examples"][name]) if name else example


def operations() -> Iterator[Any]:
    """Return each operation of the document but the document's own."""
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            if path != "/openapi.json":
                yield pytest.param(operation, id=f"{method} {path}")


def bodies(operation: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], list[Any]]]:
    """Return (name, schema, examples) of the JSON request and every JSON answer, errors included."""
    request = operation.get("requestBody", {}).get("content", {}).get(JSON)
    if request:
        yield "request", request["schema"], [request["example"]]
    for status, answer in operation["responses"].items():
        if JSON in answer.get("content", {}):
            content = answer["content"][JSON]
            yield status, content["schema"], [_resolved(example)["value"] for example in content["examples"].values()]


@pytest.mark.parametrize("operation", operations())
def test_every_example_matches_its_schema(operation: dict[str, Any]) -> None:
    found = list(bodies(operation))

    assert found
    faults = []
    for name, schema, examples in found:
        validator = Draft202012Validator(inlined(schema), format_checker=FORMATS)
        assert examples, name
        for example in examples:
            if fault := best_match(validator.iter_errors(example)):
                faults.append(f"{name}: {fault.json_path}: {fault.message}")
    assert faults == []


def test_every_error_example_is_used() -> None:
    named = set(re.findall(r"#/components/examples/(\w+)", json.dumps(DOCUMENT["paths"])))

    assert set(DOCUMENT["components"]["examples"]) == named


def test_every_error_example_is_named_by_its_code() -> None:
    for code, example in DOCUMENT["components"]["examples"].items():
        assert example["value"]["code"] == code
        assert example["value"]["message"]
        assert example["value"]["suggested_action"]
