"""JSON Schemas of platform options and credentials, and the validation of input against them in bounded time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.exceptions import best_match
from jsonschema.validators import extend

MAX_VIOLATIONS = 20


def object_schema(required: Sequence[str] | None = None, /, **properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of a platform's options or credentials: an object with these properties and no others.

    `required` lists the mandatory ones.
    """
    named = {} if required is None else {"required": [*required]}
    return {"type": "object", "properties": properties, **named, "additionalProperties": False}


def first_schema_violations(schema: Mapping[str, Any], value: Any) -> list[ValidationError]:
    """Validate platform options or credentials by JSON Schema; return the first violations, at most MAX_VIOLATIONS.

    Values that are too long are not examined: patterns are not tried on a string that is longer than its `maxLength`, nor
    items checked of an array that is longer than its `maxItems`. For a value that fits none of several alternatives, the
    result has the violations of the closest one.
    """
    found = islice(_Validator(schema).iter_errors(value), MAX_VIOLATIONS)
    return [best_match([violation]) or violation for violation in found]


def _within(keyword: str, limit: str) -> Any:
    """Return a JSON Schema validator of a keyword, such as "pattern", that skips values which are too long for the schema.

    To validate them would take too long.
    """
    check = Draft202012Validator.VALIDATORS[keyword]

    def bounded(validator: Any, rule: Any, value: Any, schema: Mapping[str, Any]) -> Iterator[ValidationError]:
        if not isinstance(value, str | list) or len(value) <= schema.get(limit, len(value)):
            yield from check(validator, rule, value, schema) or ()

    return bounded


_Validator = extend(
    Draft202012Validator,
    {
        "pattern": _within("pattern", "maxLength"),
        "items": _within("items", "maxItems"),
        "uniqueItems": _within("uniqueItems", "maxItems"),
    },
)
