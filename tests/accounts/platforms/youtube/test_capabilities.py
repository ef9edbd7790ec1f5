from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from accounts.platforms.youtube.capabilities import CAPABILITIES, count_angle_brackets, tags_length


@pytest.mark.parametrize(
    ("options", "valid"),
    [
        ({}, True),
        ({"title": "A title", "tags": ["a", "b c"], "privacy_status": "unlisted"}, True),
        ({"title": "x" * 100}, True),
        ({"title": "x" * 101}, False),
        ({"title": " "}, False),
        ({"title": "a < b"}, False),
        ({"tags": ["<a>"]}, False),
        ({"tags": "a"}, False),
        ({"privacy_status": "PUBLIC"}, False),
        ({"category_id": "22"}, True),
        ({"category_id": 22}, False),
        ({"made_for_kids": "no"}, False),
        ({"language": "de-CH"}, True),
        ({"language": "German!"}, False),
        ({"thumbnail_url": "ftp://example.com/a"}, False),
        ({"playlist": "PL1"}, False),
    ],
)
def test_options_are_validated_by_their_schema(options: dict[str, Any], valid: bool) -> None:
    assert jsonschema.Draft202012Validator(dict(CAPABILITIES.options)).is_valid(options) is valid


@pytest.mark.parametrize(
    ("tags", "length"), [([], 0), (["abc"], 3), (["abc", "de"], 6), (["a b"], 5), (["a b", "c d", "e"], 13)]
)
def test_tags_are_counted_with_their_commas_and_quotes(tags: list[str], length: int) -> None:
    assert tags_length(tags) == length


def test_a_description_is_counted_in_bytes_and_contains_no_angle_brackets() -> None:
    rules = CAPABILITIES.text
    assert (rules.count("é😀"), rules.max_length) == (6, 5000)
    assert count_angle_brackets("1 < 2 > 0") == 2
    assert rules.additional_limits == (("angle brackets", 0, count_angle_brackets),)
