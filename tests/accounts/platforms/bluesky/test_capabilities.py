from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from accounts.platforms.bluesky.adapter import Bluesky

CAPABILITIES = Bluesky.capabilities


def test_text_is_limited_in_graphemes_and_in_bytes() -> None:
    family = "👩‍👩‍👧"
    ((unit, limit, count),) = CAPABILITIES.text.additional_limits

    assert (CAPABILITIES.text.max_length, CAPABILITIES.text.counted_as) == (300, "graphemes")
    assert CAPABILITIES.text.count(family * 300) == 300
    assert (unit, limit, count(family)) == ("bytes", 3000, 18)


def test_four_pictures_or_one_video_fit_a_post() -> None:
    media = CAPABILITIES.media

    assert media.images
    assert media.videos
    assert (media.max_count, media.mixed, media.images.max_count, media.videos.max_count) == (4, False, 4, 1)
    assert (media.images.max_bytes, media.videos.max_bytes) == (2_000_000, 100_000_000)
    assert media.gifs is None  # accepted as pictures
    assert {"images", "video", "alt_text"} <= set(CAPABILITIES.features)


@pytest.mark.parametrize(
    ("options", "valid"),
    [
        ({}, True),
        ({"langs": []}, True),
        ({"langs": ["en", "pt-BR", "zh-Hant-TW"]}, True),
        ({"langs": ["en", "fr", "de", "it"]}, False),
        ({"langs": ["english language"]}, False),
        ({"langs": ["EN"]}, False),
        ({"langs": "en"}, False),
        ({"reply_to": "at://x"}, False),
    ],
)
def test_options_are_up_to_three_languages(options: dict[str, Any], valid: bool) -> None:
    jsonschema.Draft202012Validator.check_schema(CAPABILITIES.options)

    assert jsonschema.Draft202012Validator(CAPABILITIES.options).is_valid(options) is valid
