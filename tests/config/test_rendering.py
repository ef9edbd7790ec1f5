"""The JSON of API responses: the same as REST framework's own renderer would write."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.renderers import JSONRenderer

from config.api.rendering import FastJsonRenderer

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=["Cs"]))
bodies = st.recursive(
    scalars | texts, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)


@given(bodies)
def test_a_body_is_read_back_as_the_other_renderer_writes_it(body: Any) -> None:
    assert json.loads(FastJsonRenderer().render(body) or "null") == json.loads(JSONRenderer().render(body) or "null")


@pytest.mark.parametrize(
    "body",
    [
        {"at": datetime(2026, 3, 1, 9, 30, tzinfo=UTC)},
        {"number": 2**70, "numbers": {1: "one"}},
        {"text": "Grüße 🎉", "tail": "\u2028"},
    ],
)
def test_values_that_only_one_library_knows_are_written(body: Any) -> None:
    assert json.loads(FastJsonRenderer().render(body)) == json.loads(JSONRenderer().render(body))


def test_an_indented_answer_is_indented() -> None:
    assert FastJsonRenderer().render({"a": 1}, "application/json; indent=4") == b'{\n    "a": 1\n}'


def test_nothing_is_an_empty_body() -> None:
    assert FastJsonRenderer().render(None) == b""
