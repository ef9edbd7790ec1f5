from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from accounts.platforms.types import ImageRules
from accounts.platforms.x.capabilities import CAPABILITIES, THREAD


@pytest.mark.parametrize(
    ("options", "valid"),
    [
        ({}, True),
        ({"reply_settings": "mentionedUsers", "made_with_ai": True, "paid_partnership": False}, True),
        ({"reply_settings": "everyone"}, False),
        ({"made_with_ai": "yes"}, False),
        ({"quote_tweet_id": "1"}, False),
        ({"thread": [{"text": "Two"}, {"text": "Three"}]}, True),
        ({"thread": [{"text": "👨‍👩‍👧‍👦" * 140}]}, True),
        ({"thread": []}, False),
        ({"thread": ["Two"]}, False),
        ({"thread": [{"text": "Two", "media": []}]}, False),
        ({"thread": [{"text": "Two"}] * (THREAD.max_segments - 1)}, True),
        ({"thread": [{"text": "Two"}] * THREAD.max_segments}, False),
    ],
)
def test_the_schema_of_the_options(options: dict[str, Any], valid: bool) -> None:
    assert jsonschema.Draft202012Validator(dict(CAPABILITIES.options)).is_valid(options) is valid


def test_an_animation_has_its_own_limits_and_no_other_media_beside_it() -> None:
    gifs = ImageRules(mime_types=("image/gif",), max_bytes=15_728_640, max_count=1, max_pixels=1_382_400)

    assert CAPABILITIES.media.gifs == gifs
    assert not CAPABILITIES.media.mixed


def test_the_pace_stays_below_xs_limits() -> None:
    pace = CAPABILITIES.pace
    assert pace is not None
    for seconds, most in [(15 * 60, 100), (3 * 3600, 300)]:
        assert pace.burst + seconds / pace.seconds <= most
