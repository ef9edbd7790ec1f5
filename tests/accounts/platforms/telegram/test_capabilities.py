from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from accounts.platforms.media_check import asset_issues, media_list_and_alt_text_issues
from accounts.platforms.telegram.adapter import Telegram
from accounts.platforms.types import MediaInfo, PostingPace

CAPABILITIES = Telegram.capabilities


def media_info(kind: Any, mime_type: str, size: int = 1_000, width: int = 100, height: int = 100) -> MediaInfo:
    return MediaInfo(kind, mime_type, size, width, height)


PHOTO, VIDEO, PDF = (
    media_info("image", "image/png"),
    media_info("video", "video/mp4"),
    media_info("document", "application/pdf"),
)


def test_text_is_counted_in_utf16_and_shorter_as_a_caption() -> None:
    text = CAPABILITIES.text

    assert (text.max_length, text.max_length_with_media, text.count("a😀")) == (4096, 1024, 3)


def test_publishing_is_never_repeated_and_needs_no_operator() -> None:
    assert CAPABILITIES.retry_safety == "at_most_once"
    assert CAPABILITIES.pace == PostingPace(seconds=3, burst=3)
    assert Telegram.methods == ("credentials",)
    assert Telegram().unavailable_reason("credentials") is None


@pytest.mark.parametrize(
    ("asset", "codes"),
    [
        (PHOTO, []),
        (media_info("image", "image/jpeg", width=9_000, height=1_000), []),
        (media_info("image", "image/webp", width=200, height=10), []),
        (media_info("image", "image/gif"), ["MEDIA_TYPE_NOT_TAKEN"]),
        (media_info("image", "image/png", 10_000_001), ["MEDIA_TOO_LARGE"]),
        (media_info("image", "image/png", width=9_000, height=1_001), ["MEDIA_TOO_MANY_PIXELS"]),
        (media_info("image", "image/png", width=201, height=10), ["MEDIA_SHAPE"]),
        (media_info("image", "image/png", width=10, height=201), ["MEDIA_SHAPE"]),
        (VIDEO, []),
        (media_info("video", "video/quicktime"), ["MEDIA_TYPE_NOT_TAKEN"]),
        (media_info("video", "video/mp4", 50_000_001), ["MEDIA_TOO_LARGE"]),
        (media_info("gif", "image/gif", 50_000_000), []),
        (PDF, []),
        (media_info("document", "application/zip"), ["MEDIA_TYPE_NOT_TAKEN"]),
    ],
)
def test_each_file_is_checked(asset: MediaInfo, codes: list[str]) -> None:
    assert [issue.code for issue in asset_issues("telegram", CAPABILITIES.media, asset, "media[0]")] == codes


@pytest.mark.parametrize(
    ("assets", "codes"),
    [
        ([PHOTO] * 10, []),
        ([PHOTO, VIDEO] * 5, []),
        ([PDF] * 10, []),
        ([PHOTO] * 11, ["MEDIA_TOO_MANY"]),
        ([PHOTO] * 6 + [VIDEO] * 5, ["MEDIA_TOO_MANY"]),
        ([media_info("gif", "image/gif")] * 2, ["MEDIA_TOO_MANY"]),
        ([media_info("video", "video/mp4", 25_000_001)] * 2, ["MEDIA_TOO_LARGE"]),
    ],
)
def test_the_files_of_a_post_are_checked_together(assets: list[MediaInfo], codes: list[str]) -> None:
    assert [issue.code for issue in media_list_and_alt_text_issues("telegram", CAPABILITIES.media, assets)] == codes


@pytest.mark.parametrize(
    ("options", "valid"),
    [
        ({}, True),
        ({"parse_mode": "HTML", "disable_notification": True, "protect_content": False, "link_preview": False}, True),
        ({"parse_mode": "MarkdownV2", "message_thread_id": 7, "reply_to_message_id": 2**31 - 1}, True),
        ({"parse_mode": "Markdown"}, False),
        ({"parse_mode": ""}, False),
        ({"disable_notification": "true"}, False),
        ({"message_thread_id": 0}, False),
        ({"reply_to_message_id": "5"}, False),
        ({"reply_to_message_id": 2**31}, False),
        ({"chat_id": "@other"}, False),
    ],
)
def test_options_are_those_of_a_message(options: dict[str, Any], valid: bool) -> None:
    jsonschema.Draft202012Validator.check_schema(CAPABILITIES.options)

    assert jsonschema.Draft202012Validator(CAPABILITIES.options).is_valid(options) is valid
