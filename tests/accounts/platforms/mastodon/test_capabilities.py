from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from accounts.platforms.mastodon.adapter import Mastodon
from accounts.platforms.types import AccountLimitsAndScopes, PostingPace

CAPABILITIES = Mastodon.capabilities


def test_a_url_counts_as_23_and_a_mention_without_its_host() -> None:
    assert (CAPABILITIES.text.max_length, CAPABILITIES.text.counted_as) == (500, "graphemes")
    assert CAPABILITIES.text.count("https://example.com/" + "a" * 600) == CAPABILITIES.text.url_length == 23
    assert CAPABILITIES.text.count("@bob@remote.example") == 4


def test_a_server_may_accept_more_or_less_than_mastodons_defaults() -> None:
    limits = {"characters": 5000, "media": 1, "image_bytes": 100, "alt_text": 5}
    accepted = Mastodon().capabilities_for(AccountLimitsAndScopes("1", limits))

    assert accepted.media.images is not None
    assert accepted.media.gifs is not None
    assert accepted.media.videos is not None
    assert (accepted.text.max_length, accepted.media.max_count, accepted.media.images.max_count) == (5000, 1, 1)
    assert (accepted.media.images.max_bytes, accepted.media.gifs.max_bytes, accepted.media.alt_text_max_length) == (
        100,
        100,
        5,
    )
    assert (accepted.media.videos.max_bytes, accepted.options) == (103_809_024, CAPABILITIES.options)


def test_an_animation_cannot_be_combined_with_other_media() -> None:
    media = CAPABILITIES.media

    assert media.images is not None
    assert media.gifs is not None
    assert media.videos is not None
    assert (media.mixed, media.images.max_count, media.gifs.max_count, media.videos.max_count) == (False, 4, 1, 1)


def test_publishing_can_be_verified_and_needs_no_operator() -> None:
    assert CAPABILITIES.retry_safety == "verifiable"
    assert CAPABILITIES.pace == PostingPace(seconds=36, burst=300)
    assert Mastodon.methods == ("credentials", "oauth")
    assert [Mastodon().unavailable_reason(method) for method in Mastodon.methods] == [None, None]


@pytest.mark.parametrize(
    ("options", "valid"),
    [
        ({}, True),
        ({"visibility": "unlisted", "spoiler_text": "Food", "sensitive": True, "language": "en"}, True),
        ({"visibility": "everybody"}, False),
        ({"spoiler_text": ""}, False),
        ({"sensitive": "yes"}, False),
        ({"language": "English"}, False),
        ({"in_reply_to_id": "1"}, False),
        ({"thread": [{"text": "Two"}]}, True),
        ({"thread": [{"text": "Two", "visibility": "direct"}]}, False),
    ],
)
def test_options_are_visibility_warning_and_language(options: dict[str, Any], valid: bool) -> None:
    jsonschema.Draft202012Validator.check_schema(CAPABILITIES.options)

    assert jsonschema.Draft202012Validator(CAPABILITIES.options).is_valid(options) is valid


@pytest.mark.parametrize(
    ("language", "valid"),
    [
        *((code, True) for code in ("en", "ast", "zh-CN", "zh-TW", "zh-HK", "zh-YUE", "pt-BR", "sr-Latn", "es-419")),
        *((code, False) for code in ("zh-tw", "zh_TW", "zh-", "-TW", "EN", "sr-latn", "zh-TW-TW", "zh-TW x")),
    ],
)
def test_a_language_may_name_its_script_or_region(language: str, valid: bool) -> None:
    assert jsonschema.Draft202012Validator(CAPABILITIES.options).is_valid({"language": language}) is valid
