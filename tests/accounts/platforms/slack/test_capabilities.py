from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from accounts.platforms.slack.capabilities import CAPABILITIES, CREDENTIALS_SCHEMA


@pytest.mark.parametrize(
    ("options", "valid"),
    [
        ({}, True),
        ({"thread_ts": "1503435956.000247", "mrkdwn": False, "unfurl_links": True, "unfurl_media": False}, True),
        ({"thread_ts": "1503435956"}, False),
        ({"thread_ts": 1503435956.000247}, False),
        ({"unfurl_links": "no"}, False),
        ({"channel": "C1"}, False),
    ],
)
def test_options_are_those_of_a_message(options: dict[str, Any], valid: bool) -> None:
    assert Draft202012Validator(CAPABILITIES.options).is_valid(options) is valid


@pytest.mark.parametrize(
    ("credentials", "valid"),
    [
        ({"webhook_url": "https://hooks.slack.com/services/T1/B1/x"}, True),
        ({"webhook_url": "ftp://hooks.slack.com/services/T1/B1/x"}, False),
        ({"webhook_url": "https://hooks.slack.com/" + "x" * 512}, False),
        ({}, False),
    ],
)
def test_credentials_are_a_webhooks_address(credentials: dict[str, Any], valid: bool) -> None:
    assert Draft202012Validator(CREDENTIALS_SCHEMA).is_valid(credentials) is valid
