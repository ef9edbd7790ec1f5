from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from accounts.platforms.discord.adapter import Discord

CAPABILITIES = Discord.capabilities
MIB = 1024 * 1024


def test_text_is_limited_in_code_points() -> None:
    assert (CAPABILITIES.text.max_length, CAPABILITIES.text.counted_as) == (2000, "characters")
    assert CAPABILITIES.text.count("👩‍👩‍👧") == 5


def test_a_message_has_up_to_ten_files_of_any_kind() -> None:
    media = CAPABILITIES.media

    rules = [media.images, media.videos, media.gifs, media.documents]
    assert {(each.max_count, each.max_bytes) for each in rules if each} == {(10, 10 * MIB)}
    assert all(rules)
    assert (media.max_count, media.mixed, media.alt_text_max_length) == (10, True, 1024)
    assert media.max_total_bytes is not None
    assert 24 * MIB < media.max_total_bytes < 25 * MIB  # the request's own limit, which text and alt texts share


@pytest.mark.parametrize(
    ("options", "valid"),
    [
        ({}, True),
        ({"username": "Town crier", "suppress_embeds": True, "suppress_notifications": False}, True),
        ({"thread_id": "1440000000000000001"}, True),
        ({"thread_name": "Release 2.0"}, True),
        ({"thread_id": "1440000000000000001", "thread_name": "Release 2.0"}, False),
        ({"thread_id": 1440000000000000001}, False),
        ({"thread_id": "general"}, False),
        ({"thread_name": "x" * 101}, False),
        ({"username": "x" * 81}, False),
        ({"username": ""}, False),
        ({"username": "My disCord news"}, False),
        ({"username": "Clyde"}, False),
        ({"suppress_embeds": "yes"}, False),
        ({"allowed_mentions": {"parse": ["everyone"]}}, False),
    ],
)
def test_options_are_those_of_a_webhooks_message(options: dict[str, Any], valid: bool) -> None:
    jsonschema.Draft202012Validator.check_schema(CAPABILITIES.options)

    assert jsonschema.Draft202012Validator(CAPABILITIES.options).is_valid(options) is valid
