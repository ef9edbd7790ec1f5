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


def bodies() -> Iterator[Any]:
    """Return (schema, examples) of every JSON request and every JSON answer, errors included."""
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            if path == "/openapi.json":
                continue
            request = operation.get("requestBody", {}).get("content", {}).get(JSON)
            if request:
                yield pytest.param(request["schema"], [request["example"]], id=f"{method} {path}")
            for status, answer in operation["responses"].items():
                if JSON in answer.get("content", {}):
                    content = answer["content"][JSON]
                    examples = [_resolved(example)["value"] for example in content["examples"].values()]
                    yield pytest.param(content["schema"], examples, id=f"{method} {path} {status}")


@pytest.mark.parametrize(("schema", "examples"), list(bodies()))
def test_every_example_matches_its_schema(schema: dict[str, Any], examples: list[Any]) -> None:
    validator = Draft202012Validator(inlined(schema), format_checker=FORMATS)

    assert examples
    for example in examples:
        fault = best_match(validator.iter_errors(example))
        assert fault is None, f"{fault.json_path}: {fault.message}"


def test_every_error_example_is_used() -> None:
    named = set(re.findall(r"#/components/examples/(\w+)", json.dumps(DOCUMENT["paths"])))

    assert set(DOCUMENT["components"]["examples"]) == named


def test_every_error_example_is_named_by_its_code() -> None:
    for code, example in DOCUMENT["components"]["examples"].items():
        assert example["value"]["code"] == code
        assert example["value"]["message"]
        assert example["value"]["suggested_action"]
