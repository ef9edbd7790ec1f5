"""Reading responses: objects, safe text, waiting times."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from accounts.platforms.http.errors import PlatformHttpError
from accounts.platforms.http.responses import (
    UnreadableAnswer,
    https_url_or_empty,
    json_object_or_none,
    line_without_tokens,
    objects_in,
    one_line,
    required_json_object,
    required_matching_text,
    wait_seconds_from_headers,
    wait_seconds_from_json,
)
from config.outbound import Response

NOON = datetime(2027, 3, 10, 12, tzinfo=UTC)
TOKEN = "EAAB" + "x1Y-" * 20


@pytest.mark.parametrize("body", [b"", b"<html>", b"[1]", b'"text"', b"{", b"[" * 100_000])
def test_only_a_json_object_is_read_as_one(body: bytes) -> None:
    assert json_object_or_none(Response(200, {}, body)) is None
    with pytest.raises(UnreadableAnswer):
        required_json_object(Response(200, {}, body))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("  two\nlines\x00and\u202e more ", "two lines and  more"),
        (f"The token {TOKEN} is wrong", "The token … is wrong"),
        ("a sentence " * 200, ("a sentence " * 200)[:300].strip()),
        (None, ""),
        ({"message": "x"}, ""),
    ],
)
def test_text_of_a_platform_becomes_one_safe_line(value: Any, shown: str) -> None:
    assert line_without_tokens(value) == shown


@time_machine.travel(NOON, tick=False)
@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (429, {"Retry-After": "30"}, 30.0),
        (503, {"Retry-After": "30"}, 30.0),
        (429, {"Retry-After": "0.5"}, 0.5),
        (429, {"Retry-After": "Wed, 10 Mar 2027 12:01:00 GMT"}, 60.0),
        (429, {"Retry-After": "Wed, 10 Mar 2027 11:00:00 GMT"}, 0.0),
        (429, {"Retry-After": "99999999"}, 86_400.0),
        (429, {"Retry-After": "soon", "X-Reset": "45"}, 45.0),
        (429, {"X-Reset": str(int(NOON.timestamp()) + 90)}, 90.0),
        (429, {"X-Reset": "2027-03-10T12:00:10Z"}, 10.0),
        (429, {"X-Reset": "2027-03-10T12:00:10"}, 10.0),
        (429, {"X-Reset": "-5"}, None),
        (429, {"X-Reset": "9" * 400}, None),
        (429, {}, None),
        (503, {"X-Reset": "45"}, None),
    ],
)
def test_a_waiting_time_is_read_in_every_format(status: int, headers: dict[str, str], seconds: float | None) -> None:
    assert wait_seconds_from_headers(Response(status, headers, b""), "X-Reset") == seconds


def test_a_long_name_is_shown_in_full() -> None:
    assert one_line("customer-success-emea-enterprise-announcements\n") == "customer-success-emea-enterprise-announcements"


def test_an_error_has_one_safe_line_and_says_whether_the_api_sent_it() -> None:
    error = PlatformHttpError(Response(400, {}, b'{"message": "x"}'), code="7", reason=f"No\n{TOKEN}")
    assert (error.status, error.code, error.reason, error.from_api) == (400, "7", "No …", True)
    assert PlatformHttpError(Response(502, {}, b"<html>")).from_api is False


def test_a_field_must_match_its_pattern() -> None:
    assert required_matching_text({"id": "12"}, "id", re.compile("[0-9]+"), "id") == "12"
    for value in ("../12", 12, None):
        with pytest.raises(UnreadableAnswer, match="has no id"):
            required_matching_text({"id": value}, "id", re.compile("[0-9]+"), "id")
    assert objects_in([{"a": 1}, "b", None]) == [{"a": 1}]
    assert objects_in("text") == []


@pytest.mark.parametrize("url", ["javascript:alert(1)", "http://a.example/", "https://a.example/ b", None, 5])
def test_only_https_addresses_are_shown(url: Any) -> None:
    assert https_url_or_empty(url) == ""
    assert https_url_or_empty("https://a.example/b.png") == "https://a.example/b.png"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [(30, 30.0), (0.5, 0.5), (-1, 0.0), (10**400, 86_400.0), ("30", None), (True, None), (None, None), ([30], None)],
)
def test_a_waiting_time_in_a_body_is_a_number_within_a_day(value: Any, seconds: float | None) -> None:
    assert wait_seconds_from_json(value) == seconds
