"""The JSON Schemas of all platforms: every value is limited, and hostile values are cheap to validate."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from accounts.platforms.registry import all_adapters
from accounts.platforms.schemas import MAX_VIOLATIONS, first_schema_violations

CPU_SECONDS = 30  # for all patterns together, which take a few; the slowest ones would take minutes each
HOSTILE = ["a", "-", "a-", " ", "0", "<", ".", "a.", "\n", "/", "http://", "http://a", "aa-", "é", "_", "@a", "1:", "\t "]

SCHEMAS: dict[str, Mapping[str, Any]] = {
    f"{platform.name}-{kind}": schema
    for platform in all_adapters()
    for kind, schema in (
        ("options", platform.capabilities.options),
        ("credentials", platform.credentials_schema),
        ("oauth", platform.oauth_input_schema),
    )
    if schema is not None
}


def values_of(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schemas of the value and of all values within it."""
    yield schema
    for part in [*schema.get("properties", {}).values(), schema.get("items"), *schema.get("anyOf", [])]:
        if isinstance(part, dict):
            yield from values_of(part)


def patterns_of(schema: Any) -> Iterator[str]:
    """Every pattern, also those below `not`, `if` and their like."""
    if isinstance(schema, Mapping):
        if isinstance(schema.get("pattern"), str):
            yield schema["pattern"]
        for part in schema.values():
            yield from patterns_of(part)
    elif isinstance(schema, list | tuple):
        for part in schema:
            yield from patterns_of(part)


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_value_of_a_schema_has_a_limit(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])
    for value in values_of(SCHEMAS[name]):
        if "enum" in value or "anyOf" in value or value["type"] in ("boolean", "integer"):
            continue
        bound = {"string": "maxLength", "array": "maxItems", "object": "additionalProperties"}[value["type"]]
        assert bound in value, value
        assert value["type"] != "object" or value[bound] is False
        assert value["type"] != "array" or "items" in value


def test_every_pattern_takes_linear_time() -> None:
    patterns = sorted({pattern for schema in SCHEMAS.values() for pattern in patterns_of(schema)})
    assert len(patterns) > 10
    program = """
import json, re, resource, sys
limit, patterns, pieces = json.load(sys.stdin)
resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
for pattern in patterns:
    for piece in pieces:
        for end in ("", "<", "!", " ", "a"):
            re.search(pattern, piece * (200_000 // len(piece)) + end)
            re.search(pattern, "https://" + piece * (200_000 // len(piece)) + end)
"""
    given = json.dumps([CPU_SECONDS, patterns, HOSTILE])
    done = subprocess.run([sys.executable, "-c", program], input=given, text=True, timeout=300, check=False)
    assert done.returncode == 0, "a pattern used up the CPU time: it is not linear"


@pytest.mark.parametrize("name", SCHEMAS)
def test_hostile_values_are_refused_fast_and_with_few_words(name: str) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    schema = SCHEMAS[name]
    texts = ["a" * 180_000 + "<", " " * 180_000, "<" * 180_000]
    many: list[Any] = [["a"] * 60_000, [{}] * 60_000, [{"text": 1}] * 20_000, {f"k{n}": n for n in range(10_000)}]
    for value in [*texts, *many]:
        for key in schema["properties"]:
            assert 0 < len(first_schema_violations(schema, {key: value})) <= MAX_VIOLATIONS
    assert first_schema_violations(schema, many[-1])
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert after.ru_utime - used.ru_utime < 4  # a tenth of it is usual


def test_values_that_are_too_long_are_not_examined() -> None:
    schema = {
        "type": "object",
        "properties": {
            "word": {"type": "string", "pattern": "^b+$", "maxLength": 3},
            "words": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        },
    }

    def found(value: Any) -> list[tuple[str, list[Any]]]:
        return [(str(error.validator), list(error.absolute_path)) for error in first_schema_violations(schema, value)]

    assert found({"word": "aaa", "words": [1, "b"]}) == [("pattern", ["word"]), ("type", ["words", 0])]
    assert found({"word": "aaaa", "words": [1, 2, 3]}) == [("maxLength", ["word"]), ("maxItems", ["words"])]


@pytest.mark.parametrize(
    ("title", "fits"), [("A title", True), (" a", True), ("  ", False), ("a<", False), ("<a", False), ("a > b", False)]
)
def test_a_title_for_youtube_has_letters_and_no_angle_brackets(title: str, fits: bool) -> None:
    [platform] = [each for each in all_adapters() if each.name == "youtube"]
    assert (first_schema_violations(platform.capabilities.options, {"title": title}) == []) is fits
    assert bool(re.search(r"^[^<>]*[^<>\s][^<>]*$", title)) is fits
