"""Comparing what is published at an account with what an earlier attempt may have published: by text and time."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

MAX_CLOCK_DIFFERENCE = timedelta(
    minutes=5
)  # between Meta's clock and ours, by which the start of a publication is stored


def same_text(shown: Any, given: str) -> bool:
    """Whether Meta shows the text that it was given, apart from white space, which it trims."""
    return _without_space(shown if isinstance(shown, str) else "") == _without_space(given)


def earliest(since: str) -> datetime:
    """The time before which nothing can belong to a publication that began at `since` (ISO 8601)."""
    return datetime.fromisoformat(since).astimezone(UTC) - MAX_CLOCK_DIFFERENCE


def time_of(entity: Mapping[str, Any], name: str) -> datetime | None:
    """A time in Graph's format, `2026-11-20T12:00:00+0000`; None for anything else."""
    try:
        moment = datetime.fromisoformat(str(entity.get(name)))
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def _without_space(text: str) -> str:
    return "".join(unicodedata.normalize("NFC", text).split())
