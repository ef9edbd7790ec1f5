"""Checking input against a platform's JSON Schemas, of options and of credentials, whatever its size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.exceptions import best_match
from jsonschema.validators import extend

MAX_VIOLATIONS = 20


def violations(schema: Mapping[str, Any], value: Any) -> list[ValidationError]:
    """What in `value` does not fit the schema: the first violations, MAX_VIOLATIONS at the most.

    What is too long is not looked into: neither are patterns tried on a string that is longer than its `maxLength`, nor
    items checked of an array that is longer than its `maxItems`. Of a value that fits none of several alternatives, it
    says what is wrong with the one that comes closest.
    """
    found = islice(_Validator(schema).iter_errors(value), MAX_VIOLATIONS)
    return [best_match([violation]) or violation for violation in found]


def _within(keyword: str, limit: str) -> Any:
    """The check of `keyword`, for values that are not longer than the schema's `limit`."""
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
