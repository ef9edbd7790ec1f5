from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from accounts.platforms.pinterest.capabilities import CAPABILITIES


def test_the_description_counts_in_characters() -> None:
    count = CAPABILITIES.text.count
    assert (count("Käse 🧀"), count("👩‍👩‍👧"), count("x" * 800)) == (6, 5, CAPABILITIES.text.max_length)


@pytest.mark.parametrize(
    ("options", "valid"),
    [
        ({"board": "Recipes"}, True),
        ({"board": "549755885175", "board_section_id": "7", "title": "x" * 100, "link": "https://example.com/"}, True),
        ({"board": "Recipes", "cover_seconds": 0}, True),
        ({"board": "Recipes", "cover_image_url": "https://example.com/c.jpg"}, True),
        ({}, False),
        ({"board": ""}, False),
        ({"board": 7}, False),
        ({"board": "Recipes", "board_section_id": "../7"}, False),
        ({"board": "Recipes", "title": "x" * 101}, False),
        ({"board": "Recipes", "link": "javascript:alert(1)"}, False),
        ({"board": "Recipes", "link": "https://example.com/" + "x" * 2048}, False),
        ({"board": "Recipes", "cover_seconds": -1}, False),
        ({"board": "Recipes", "cover_seconds": 1, "cover_image_url": "https://example.com/c.jpg"}, False),
        ({"board": "Recipes", "board_id": "7"}, False),
    ],
)
def test_the_schema_of_the_options(options: dict[str, Any], valid: bool) -> None:
    assert Draft202012Validator(CAPABILITIES.options).is_valid(options) is valid
