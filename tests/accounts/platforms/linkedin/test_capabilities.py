from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from accounts.platforms.linkedin.capabilities import CAPABILITIES

CARD = {"url": "https://example.com/", "title": "T"}


@pytest.mark.parametrize(
    ("options", "valid"),
    [
        ({}, True),
        ({"visibility": "PUBLIC", "title": "T", "first_comment": "F"}, True),
        ({"visibility": "CONNECTIONS"}, True),
        ({"visibility": "LOGGED_IN"}, False),
        ({"title": ""}, False),
        ({"article": CARD}, True),
        ({"article": {**CARD, "description": "D"}}, True),
        ({"article": {"url": "https://example.com/"}}, False),
        ({"article": {**CARD, "url": "ftp://example.com/"}}, False),
        ({"article": {**CARD, "thumbnail": "urn:li:image:a"}}, False),
        ({"first_comment": "x" * 1250}, True),
        ({"first_comment": "x" * 1251}, False),
        ({"first_comment": " \n"}, False),
        ({"thread": [{"text": "Two"}]}, False),
    ],
)
def test_options_are_validated_by_their_schema(options: dict[str, Any], valid: bool) -> None:
    assert jsonschema.Draft202012Validator(dict(CAPABILITIES.options)).is_valid(options) is valid


def test_an_account_is_posted_to_at_the_pace_that_linkedin_allows() -> None:
    pace = CAPABILITIES.pace
    assert pace is not None
    assert pace.burst + 86_400 / pace.seconds <= 150
