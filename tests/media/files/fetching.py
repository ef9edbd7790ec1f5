"""Helpers to fetch files by their links."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from django.test import Client

from media.models import MediaAsset

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
CONTENT = bytes(range(256)) * 4  # 1024 bytes
SHA256 = hashlib.sha256(CONTENT).hexdigest()
ETAG = f'"{SHA256}"'

MakeAsset = Callable[..., MediaAsset]


def fetch(url: str, method: str = "GET", **headers: str) -> Any:
    """The response for this URL; `answer.body` is the whole body."""
    parts = urlsplit(url)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    answer: Any = Client().generic(method, f"{parts.path}?{parts.query}", headers=named)
    answer.body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return answer


def assert_gone(url: str) -> None:
    """Assert the response that every invalid link gets."""
    answer = fetch(url)

    assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND")
    assert answer.json()["message"] == "Not found."
