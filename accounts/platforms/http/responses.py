"""Reading HTTP responses of platforms: JSON objects, texts safe to show to people, and waiting times.

A server may belong to anybody, so nothing in a response is trusted: `json_object_or_none` accepts objects only, `one_line`
and `line_without_tokens` bound and clean text before a person sees it, `wait_seconds_from_headers` and
`wait_seconds_from_json` bound waiting times.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_noop

from config.outbound import DestinationNotAllowed, Response, SentWithoutAnswer, check_url_without_lookup

MAX_LINE_LENGTH = 300
MAX_WAIT_SECONDS = 86_400.0
NO_REASON = gettext_noop("no reason given")

_LIKE_A_TOKEN = re.compile(r"[A-Za-z0-9_\-|]{32,}")
_HTTPS_URL = re.compile(r"https://[\x21-\x7e]{1,2000}")
_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")
_UNIX_SECONDS_FROM = 1_000_000_000  # a larger number is a Unix time, a smaller one a number of seconds


class UnreadableAnswer(SentWithoutAnswer):
    """Raised if the body of a platform's HTTP response cannot be read as expected although its status is a success."""


def json_object_or_none(response: Response) -> dict[str, Any] | None:
    """Return the JSON object in an HTTP response of a platform; None if the body is anything else."""
    try:
        content = response.json()
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def required_json_object(response: Response) -> dict[str, Any]:
    """Return the JSON object in a successful HTTP response. Raises UnreadableAnswer if the body is no JSON object."""
    content = json_object_or_none(response)
    if content is None:
        raise UnreadableAnswer("The response is not a JSON object.")
    return content


def object_or_empty(value: Any) -> dict[str, Any]:
    """Return a value from a platform's JSON response if the value is a JSON object, otherwise an empty dict."""
    return value if isinstance(value, dict) else {}


def objects_in(value: Any) -> list[dict[str, Any]]:
    """Return the JSON objects in a list from a platform's response; empty if the value is not a list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def required_matching_text(entity: Mapping[str, Any], name: str, pattern: re.Pattern[str], what: str) -> str:
    """Return a text field of a platform's JSON response. Raises UnreadableAnswer unless the text matches a pattern."""
    value = entity.get(name)
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise UnreadableAnswer(f"The response has no {what}.")
    return value


def https_url_or_empty(value: Any) -> str:
    """Return a URL from a platform's response if it is a valid https URL, otherwise an empty string."""
    return value if isinstance(value, str) and _HTTPS_URL.fullmatch(value) else ""


def fetchable_picture_url_or_empty(value: Any) -> str:
    """Return the URL of a picture from a platform's response if the service may fetch it, otherwise an empty string."""
    try:
        check_url_without_lookup(value if isinstance(value, str) else "")
    except DestinationNotAllowed:
        return ""
    return str(value)


def one_line(value: Any) -> str:
    """Return text from a platform's response (a name, a title) as one line of at most 300 printable characters.

    Returns an empty string for anything but text.
    """
    return _printable(value)[:MAX_LINE_LENGTH].strip()


def line_without_tokens(value: Any) -> str:
    """Return text from a platform's response as one line in which an ellipsis replaces anything that resembles a token.

    Platforms quote tokens in their errors.
    """
    return _LIKE_A_TOKEN.sub("…", _printable(value))[:MAX_LINE_LENGTH].strip()


def _printable(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    return "".join(char if char.isprintable() else " " for char in value[: 4 * MAX_LINE_LENGTH])


def wait_seconds_from_headers(response: Response, *reset_headers: str) -> float | None:
    """Return how many seconds an HTTP response asks to wait, at most a day; None if the response names no waiting time.

    Reads `Retry-After` in both formats (RFC 9110, 10.2.3: seconds or a date) and then, on status 429, the platform's own
    `reset_headers`: seconds, Unix time or an ISO 8601 time.
    """
    names = ("Retry-After", *(reset_headers if response.status == 429 else ()))
    for name in names:
        seconds = _seconds(response.headers.get(name, "").strip())
        if seconds is not None:
            return clamped_wait_seconds(seconds)
    return None


def clamped_wait_seconds(seconds: float) -> float:
    """Return the waiting time that a platform asks for, in seconds, limited to between zero and a day."""
    return min(max(float(seconds), 0.0), MAX_WAIT_SECONDS)


def wait_seconds_from_json(value: Any) -> float | None:
    """Return a waiting time from a JSON response in seconds, at most a day; None if the value is not a number."""
    return clamped_wait_seconds(min(MAX_WAIT_SECONDS, value)) if type(value) in (int, float) else None


def _seconds(text: str) -> float | None:
    if _NUMBER.fullmatch(text):
        seconds = float(text)
        return seconds - timezone.now().timestamp() if seconds > _UNIX_SECONDS_FROM else seconds
    moment = _moment(text)
    return (moment - timezone.now()).total_seconds() if moment else None


def _moment(text: str) -> datetime | None:
    for parse in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            moment = parse(text)
        except (ValueError, OverflowError):
            continue
        return moment.replace(tzinfo=moment.tzinfo or UTC)
    return None
