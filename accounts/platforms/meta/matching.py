"""Comparing posts of Meta's products with what an earlier attempt may have published, by text and time."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

MAX_CLOCK_DIFFERENCE = timedelta(
    minutes=5
)  # difference between Meta's clock and the service's, whose time is stored when a publication starts


def same_text(shown: Any, given: str) -> bool:
    """Whether Meta shows the text that it received, apart from white space, which Meta trims."""
    return _without_space(shown if isinstance(shown, str) else "") == _without_space(given)


def earliest(since: str) -> datetime:
    """The earliest time of a post at Meta's products that can belong to a publication started at `since` (ISO 8601)."""
    return datetime.fromisoformat(since).astimezone(UTC) - MAX_CLOCK_DIFFERENCE


def time_of(entity: Mapping[str, Any], name: str) -> datetime | None:
    """A time in a response of Meta's Graph API, `2026-11-20T12:00:00+0000`; None for anything else."""
    try:
        moment = datetime.fromisoformat(str(entity.get(name)))
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def _without_space(text: str) -> str:
    return "".join(unicodedata.normalize("NFC", text).split())
