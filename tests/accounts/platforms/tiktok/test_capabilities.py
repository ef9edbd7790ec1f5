from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from accounts.platforms.tiktok.capabilities import CAPABILITIES

LEVEL = {"privacy_level": "SELF_ONLY"}


@pytest.mark.parametrize(
    ("options", "valid"),
    [
        ({}, False),
        (LEVEL, True),
        ({"privacy_level": "public"}, False),
        ({"disable_comment": True}, False),
        ({**LEVEL, "disable_comment": True, "disable_duet": False, "disable_stitch": True}, True),
        ({**LEVEL, "disable_duet": "no"}, False),
        ({**LEVEL, "cover_timestamp_ms": 0, "is_aigc": True}, True),
        ({**LEVEL, "cover_timestamp_ms": -1}, False),
        ({**LEVEL, "title": "x" * 90, "photo_cover_index": 34, "auto_add_music": False}, True),
        ({**LEVEL, "title": "x" * 91}, False),
        ({**LEVEL, "photo_cover_index": 35}, False),
        ({**LEVEL, "draft": True}, False),
    ],
)
def test_options_are_validated_by_their_schema(options: dict[str, Any], valid: bool) -> None:
    assert jsonschema.Draft202012Validator(dict(CAPABILITIES.options)).is_valid(options) is valid


def test_a_creator_is_not_posted_to_faster_than_tiktok_allows() -> None:
    pace = CAPABILITIES.pace
    assert pace is not None
    assert pace.burst + 60 / pace.seconds <= 6


def test_a_caption_is_counted_as_tiktok_does() -> None:
    assert (CAPABILITIES.text.count("é😀"), CAPABILITIES.text.max_length) == (3, 2200)
